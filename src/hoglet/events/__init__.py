"""Capture and persons: what the SDKs send is made durable, and who did it is kept."""
