"""Calculations of dynamic cohorts, and their schedule."""
