"""hoglet: hog functions and query endpoints in one small server."""

__version__ = "0.1.0"
