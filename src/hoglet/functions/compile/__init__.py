"""Functions compiled to bytecode, Python and JavaScript."""
