"""Optional packages: a setting that needs one that is not installed is refused at the start."""

from collections.abc import Callable
from importlib.util import find_spec

from hoglet.app.startup_faults import StartupFault
from hoglet.settings import Settings


def _is_postgres(settings: Settings) -> bool:
    return settings.resolved_database_url().startswith("postgresql")


_EXTRAS: tuple[tuple[str, str, str, Callable[[Settings], bool]], ...] = (
    ("postgres", "psycopg", "HOGLET_DATABASE_URL", _is_postgres),
    ("mail", "aiosmtplib", "HOGLET_SMTP_HOST", lambda settings: settings.smtp_host is not None),
)


def check_extras(settings: Settings) -> None:
    """Compare the settings with what is installed.

    Raises:
        StartupFault: e.g. ``HOGLET_SMTP_HOST needs the package aiosmtplib: pip install
        "hoglet[mail]".``
    """
    for extra, package, setting, is_needed in _EXTRAS:
        if is_needed(settings) and find_spec(package) is None:
            raise StartupFault(
                f'{setting} needs the package {package}: pip install "hoglet[{extra}]".'
            )
