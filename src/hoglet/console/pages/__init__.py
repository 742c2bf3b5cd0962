"""One module a page; each has ``register(sessions)``."""
