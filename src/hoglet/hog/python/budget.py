"""Resource limits of a run.

Source: docs/spec/hog-language.md#10-limits.
"""

import msgspec


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one run, resumes included.

    Attributes:
        timeout_s: seconds of CPU time, without waiting for the host.
        memory_bytes: limit of all live values together, and of a single value.
        call_depth: call frames including the program; at most 1000.
        async_steps: maximum number of calls that suspend the run.
        trace_entries: entries kept in a traced run; later ones are dropped.
        output_bytes: output of ``print``; further lines are dropped.
    """

    timeout_s: float = 5.0
    memory_bytes: int = 64 * 1024 * 1024
    call_depth: int = 1000
    async_steps: int = 100
    trace_entries: int = 1000
    output_bytes: int = 1024 * 1024
