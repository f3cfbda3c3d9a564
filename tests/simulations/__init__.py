"""Simulations with known truth, too large for the tests."""
