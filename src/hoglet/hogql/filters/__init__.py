"""Property and action filters as HogQL trees."""
