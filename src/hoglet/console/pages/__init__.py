"""One module per page; each has ``register(sessions)``."""
