"""How soon a TCP connection is given up whose other side has disappeared without closing it.

A machine that loses power, or a network that drops packets, closes no connection. The kernel's
defaults are two hours for a connection without traffic and a quarter of an hour for unanswered
data.

Source: docs/adr/0070-lost-peers.md.
"""

from typing import Final

TESTED_AFTER_SECONDS: Final = 5
TESTED_EVERY_SECONDS: Final = 2
TESTS: Final = 3
UNANSWERED_MS: Final = 11_000
"""For data that is not acknowledged."""
