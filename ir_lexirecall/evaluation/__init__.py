"""Values of measures: one run, several, or for ir_measures."""
