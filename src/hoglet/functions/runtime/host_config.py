"""Host configuration for programs; sent to the workers with each function."""

import msgspec


class HostConfig(msgspec.Struct, frozen=True):
    """Host functions beyond the standard library.

    Attributes:
        has_email: an SMTP server is configured, so ``sendEmail`` exists.
        geoip_database: path of a MaxMind database, for ``geoipLookup``.
        bot_list: path of a list of additional bots.
    """

    has_email: bool = False
    geoip_database: str | None = None
    bot_list: str | None = None
