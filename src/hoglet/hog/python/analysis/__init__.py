"""What the generator of Python programs knows about a bound program before it prints it."""
