"""Hog as Python: the printer, the engine for its output, and batch predicates.

Use :func:`compile_python` and :func:`run_program`, or :class:`Execution` to run in steps.
"""
