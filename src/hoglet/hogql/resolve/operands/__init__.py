"""Operands of comparisons and conditions: converts them to a common type or rejects them."""
