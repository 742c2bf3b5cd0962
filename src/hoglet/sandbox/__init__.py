"""Worker processes in which untrusted text is parsed, compiled and run, apart from the API."""

from hoglet.sandbox.pool import (
    Sandbox,
    SandboxCrashed,
    SandboxTimedOut,
    SandboxUnavailable,
)

__all__ = ["Sandbox", "SandboxCrashed", "SandboxTimedOut", "SandboxUnavailable"]
