"""The server that commands call: its address, key, profile and API."""
