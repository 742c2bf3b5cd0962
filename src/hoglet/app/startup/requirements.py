"""Limits of the process, and the optional packages that settings need."""

import os
import resource
from collections.abc import Callable
from importlib.util import find_spec

from hoglet.app.startup.errors import StartupFault
from hoglet.app.startup.tracing import wanted_by
from hoglet.settings import Settings

# An idle server holds 120 descriptors: sockets, SQLite and warehouse files.
MIN_DESCRIPTORS = 512
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
    if soft != resource.RLIM_INFINITY and soft < MIN_DESCRIPTORS:
        raise StartupFault(
            f"This process can open {soft} files, but a server needs "
            f"{MIN_DESCRIPTORS}: raise the limit (ulimit -n, or LimitNOFILE of "
            "systemd)."
        )


def _is_postgres(settings: Settings) -> bool:
    return settings.resolved_database_url().startswith("postgresql")


_EXTRAS: tuple[tuple[str, str, str, Callable[[Settings], bool]], ...] = (
    ("postgres", "psycopg", "HOGLET_DATABASE_URL", _is_postgres),
    ("nats", "nats", "HOGLET_SPOOL_URL", lambda settings: settings.spool_url is not None),
    ("mail", "aiosmtplib", "HOGLET_SMTP_HOST", lambda settings: settings.smtp_host is not None),
)


_TRACING = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


def check_extras(settings: Settings) -> None:
    """Check that the packages that the settings need are installed.

    Raises:
        StartupFault: e.g. ``HOGLET_SMTP_HOST needs the package aiosmtplib: pip install
            "hoglet[mail]".``
    """
    for extra, package, setting, is_needed in _EXTRAS:
        if is_needed(settings):
            _check_installed(package, extra, setting)
    traces = wanted_by(os.environ)
    if traces is not None:
        for package in _TRACING:
            _check_installed(package, "otel", traces)


def _check_installed(package: str, extra: str, setting: str) -> None:
    try:
        spec = find_spec(package)
    except ModuleNotFoundError:  # its parent package is missing
        spec = None
    if spec is None:
        raise StartupFault(f'{setting} needs the package {package}: pip install "hoglet[{extra}]".')
