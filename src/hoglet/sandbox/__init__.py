"""Worker processes that parse, compile and run untrusted text, isolated from the API."""

from hoglet.sandbox.pool import (
    Operation,
    Sandbox,
    SandboxCrashed,
    SandboxTimedOut,
    SandboxUnavailable,
    operation_path,
)

__all__ = [
    "Operation",
    "Sandbox",
    "SandboxCrashed",
    "SandboxTimedOut",
    "SandboxUnavailable",
    "operation_path",
]
