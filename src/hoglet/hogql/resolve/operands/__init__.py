"""Operands of comparisons and conditions: the type they are compared in, and what is refused."""
