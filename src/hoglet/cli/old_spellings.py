"""Earlier spellings: they still work, and print the current one.

``hoglet key create`` and ``hoglet project`` are relied on by scripts, so they print no hint.
"""

from collections.abc import Sequence

from hoglet.cli.refusals import print_hint

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
}
"""Single commands; the groups above have moved as a whole."""


def modern_spelling(words: Sequence[str]) -> list[str]:
    """The command line in its current spelling; prints a hint if it was changed.

    Args:
        words: the command line after ``hoglet``.

    Example:
        >>> modern_spelling(["key", "create", "--scopes", "*"])
        ['admin', 'keys', 'create', '--scopes', '*']
    """
    given = list(words)
    if not given:
        return given
    first, *rest = given
    if first == "logs":
        return _logs(rest)
    if first == "version" and not rest:
        return ["--version"]
    for old, new in _COMMANDS.items():
        if given[: len(old.split())] == old.split():
            _announce(old, new)
            return [*new.split(), *given[len(old.split()) :]]
    if any(word == "--host" or word.startswith("--host=") for word in rest) and first != "serve":
        print_hint("--host is now --url here; the old name still works.")
    if first in _GROUPS:
        if first not in _SILENT:
            _announce(first, _GROUPS[first])
        return [*_GROUPS[first].split(), *rest]
    return given


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
    _announce("logs --function ID", "functions logs ID")
    return ["functions", "logs", *functions, *words]


def _announce(old: str, new: str) -> None:
    print_hint(f"hoglet {old} is now hoglet {new}; the old spelling still works.")
