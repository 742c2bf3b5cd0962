"""What a server checks and claims before it serves."""
