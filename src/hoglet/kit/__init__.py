"""What every room may use: errors, identifiers, text measures. No I/O, no clock, no environment."""
