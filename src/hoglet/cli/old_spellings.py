"""Earlier spellings: they still work, and are answered with the current one.

``hoglet key create`` and ``hoglet project`` are relied on by scripts, so they print no hint.
"""

from collections.abc import Sequence
from typing import NamedTuple

_GROUPS = {
    "key": "admin keys",
    "project": "admin projects",
    "queue": "admin queues",
    "secrets": "admin secrets",
    "warehouse": "admin warehouse",
    "function": "functions",
    "endpoint": "endpoints",
    "event": "events",
    "cohort": "cohorts",
    "integration": "integrations",
    "profile": "profiles",
}
_SILENT = frozenset({"key", "project"})
_COMMANDS = {
    "functions force-state": "admin functions force-state",
    "admin queues buried": "admin queues failed",
    "admin queues revive": "admin queues retry",
    "queue buried": "admin queues failed",
    "queue revive": "admin queues retry",
    "admin secrets reseal": "admin secrets reencrypt",
    "secrets reseal": "admin secrets reencrypt",
}
"""Single commands; the groups above have moved as a whole."""


class Spelling(NamedTuple):
    """A command line in its current spelling, and what to say about the given one, if anything."""

    words: list[str]
    hint: str = ""


def modern_spelling(words: Sequence[str]) -> Spelling:
    """The command line in its current spelling, with a hint if it was changed.

    Args:
        words: the command line after ``hoglet``.

    Example:
        >>> modern_spelling(["function", "list"])
        Spelling(words=['functions', 'list'], hint='hoglet function is now hoglet functions.')
    """
    given = list(words)
    if not given:
        return Spelling(given)
    first, *rest = given
    if first == "logs":
        return Spelling(_logs(rest), _renamed("logs --function ID", "functions logs ID"))
    if first == "version" and not rest:
        return Spelling(["--version"])
    for old, new in _COMMANDS.items():
        if given[: len(old.split())] == old.split():
            return Spelling([*new.split(), *given[len(old.split()) :]], _renamed(old, new))
    is_host = any(word == "--host" or word.startswith("--host=") for word in rest)
    hint = "--host is now --url here." if is_host and first != "serve" else ""
    if first in _GROUPS:
        group = _GROUPS[first]
        renamed = "" if first in _SILENT else _renamed(first, group)
        return Spelling([*group.split(), *rest], " ".join(filter(None, (hint, renamed))))
    return Spelling(given, hint)


def _logs(rest: list[str]) -> list[str]:
    """``logs -f --function ID`` had the id in an option."""
    words: list[str] = []
    functions: list[str] = []
    remaining = iter(rest)
    for word in remaining:
        if word == "--function":
            functions += [value for value in [next(remaining, None)] if value is not None]
        elif word.startswith("--function="):
            functions.append(word.partition("=")[2])
        else:
            words.append(word)
    return ["functions", "logs", *functions, *words]


def _renamed(old: str, new: str) -> str:
    return f"hoglet {old} is now hoglet {new}."
