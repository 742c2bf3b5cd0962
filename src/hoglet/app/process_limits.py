"""Resource limits of this process: raised as far as allowed, and checked at startup."""

import resource

from hoglet.app.startup_faults import StartupFault

# An idle server holds 120 descriptors: sockets, SQLite and warehouse files.
LEAST_DESCRIPTORS = 512
_ENOUGH_DESCRIPTORS = 65_536


def raise_descriptor_limit() -> None:
    """Raise the limit of open files as far as allowed.

    Raises:
        StartupFault: the limit is too low for a server.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _ENOUGH_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _ENOUGH_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = most
    if soft != resource.RLIM_INFINITY and soft < LEAST_DESCRIPTORS:
        raise StartupFault(
            f"This process can open {soft} files, but a server needs "
            f"{LEAST_DESCRIPTORS}: raise the limit (ulimit -n, or LimitNOFILE of "
            "systemd)."
        )
