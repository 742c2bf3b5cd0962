"""LIMIT, OFFSET and keyset cursors."""
