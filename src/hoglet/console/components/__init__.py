"""Elements with a browser side of their own: a Python class beside its JavaScript module."""
