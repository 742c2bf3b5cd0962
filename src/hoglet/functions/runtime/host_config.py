"""What the operator set up for programs; travels to the workers with each function."""

import msgspec


class HostConfig(msgspec.Struct, frozen=True):
    """What there is beyond the standard library.

    Attributes:
        has_email: an SMTP server is configured, so ``sendEmail`` exists.
        geoip_database: path of a MaxMind database, for ``geoipLookup``.
        bot_list: path of a list of bots to know besides our own.
    """

    has_email: bool = False
    geoip_database: str | None = None
    bot_list: str | None = None
