"""Worker processes that parse, compile and run untrusted text, isolated from the API."""

from hoglet.sandbox.pool import (
    Sandbox,
    SandboxCrashed,
    SandboxTimedOut,
    SandboxUnavailable,
)

__all__ = ["Sandbox", "SandboxCrashed", "SandboxTimedOut", "SandboxUnavailable"]
