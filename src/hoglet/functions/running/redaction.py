"""Keeps secrets out of log lines.

Source: spec/hog-functions.md section 13.5.
"""

import re
from collections.abc import Iterable
from typing import Any

from hoglet.functions.inputs.kinds import INTEGRATION_TYPES
from hoglet.functions.runnable import RunnableInput

REDACTED = "***REDACTED***"
MAX_LINE_CHARACTERS = 10_000
TRUNCATED = "... (truncated)"
_SHORTEST_SECRET = 3  # shorter ones would blot out ordinary words
_HEADER = re.compile(
    r"""(?ix)
    (["']? \b (?:authorization|proxy-authorization|cookie|set-cookie|x-api-key|api[-_]?key
      |x-auth-token|access[-_]?token|x-[\w-]*(?:token|secret|signature)) ["']? \s* [:=] \s* )
    ( "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | [^\s,;}]+ (?:\s+[^\s,;}]+)? )
    """
)


def secret_texts(inputs: Iterable[RunnableInput], built: dict[str, Any]) -> list[str]:
    """Every text inside the secret inputs, raw and built, and the tokens' placeholders.

    Longest first.
    """
    found: set[str] = set()
    for item in inputs:
        if item.type in INTEGRATION_TYPES:
            _collect_tokens(item.value, found)
        if item.secret:
            _collect(item.value, found)
            _collect(built.get(item.key), found)
    return sorted((t for t in found if len(t) >= _SHORTEST_SECRET), key=len, reverse=True)


def clean_line(message: str, secrets: list[str]) -> str:
    """A log line without secrets and at most 10,000 characters long."""
    for secret in secrets:
        message = message.replace(secret, REDACTED)
    message = _HEADER.sub(_redact_header, message)
    if len(message) > MAX_LINE_CHARACTERS:
        return message[:MAX_LINE_CHARACTERS] + TRUNCATED
    return message


def _redact_header(match: re.Match[str]) -> str:
    value = match[2]
    quote = value[0] if value[0] in "\"'" else ""
    return f"{match[1]}{quote}{REDACTED}{quote}"


def _collect_tokens(value: Any, found: set[str]) -> None:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            _collect(one.get("access_token"), found)


def _collect(value: Any, found: set[str]) -> None:
    if isinstance(value, str):
        found.add(value)
    elif isinstance(value, dict):
        for part in value.values():
            _collect(part, found)
    elif isinstance(value, list | tuple):
        for part in value:
            _collect(part, found)
