"""The ASGI application and the server that runs it."""
