"""Limits of this process: raised as far as they may be, and checked before any work begins."""

import resource

from hoglet.app.startup_faults import StartupFault

# An idle server holds 120 descriptors: sockets, SQLite and the files of the warehouse.
LEAST_DESCRIPTORS = 512
_ENOUGH_DESCRIPTORS = 65_536


def raise_descriptor_limit() -> None:
    """Allow this process as many open files as it may have.

    Raises:
        StartupFault: they are too few for a server.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _ENOUGH_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _ENOUGH_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = most
    if soft != resource.RLIM_INFINITY and soft < LEAST_DESCRIPTORS:
        raise StartupFault(
            f"This process may open {soft} files, and a server needs {LEAST_DESCRIPTORS}: raise "
            "the limit (ulimit -n, or LimitNOFILE of systemd)."
        )
