"""Encryption of secret inputs at rest, and rotation of its key."""
