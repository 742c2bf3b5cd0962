"""Endpoint runs compared with the bare engine and a bare route; see ``__main__``."""
