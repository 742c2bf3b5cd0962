"""Resolves syntax trees to plans: names, types, lazy joins, function calls."""
