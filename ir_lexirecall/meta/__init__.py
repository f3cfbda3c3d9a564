"""Measuring measures: axioms, orientation, ties, sensitivity, stability and relations of any measure."""
