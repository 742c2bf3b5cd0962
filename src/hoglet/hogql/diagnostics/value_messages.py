"""Explains messages of the engine about values: strings that do not parse, division by zero."""

import re
from typing import Any

from hoglet.hogql.ast_builders import walk
from hoglet.hogql.diagnostics.engine_terms import types_of_hogql
from hoglet.hogql.diagnostics.positions import (
    called,
    calls_in,
    constant,
)
from hoglet.hogql.diagnostics.read_messages import Kind
from hoglet.hogql.errors import near, refused
from hoglet.hogql.functions.units import UNITS
from hoglet.kit.clock import timezone_names
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree


def _bad_regex(match: re.Match[str], code: str, query: Any) -> SourceError:
    pattern = match["pattern"].removeprefix("(?i)")
    reason = match["reason"].strip().rstrip(".:")
    message = f"'{pattern}' is not a regular expression: {reason}"
    return refused(message, constant(pattern, query) or called(match.string, query), code=code)


def _bad_uuid(match: re.Match[str], code: str, query: Any) -> SourceError:
    value = match["value"].rstrip(".")
    hint = None if value else "a UUID is never empty; to leave out nulls, write x IS NOT NULL"
    return refused(f"'{value}' is not a UUID", constant(value, query), code=code, hint=hint)


def _bad_zone(match: re.Match[str], code: str, query: Any) -> SourceError:
    zone = match["zone"]
    names = sorted(timezone_names())
    city = next((name for name in names if name.lower().endswith(f"/{zone.lower()}")), None)
    nearest = f" Did you mean '{city}'?" if city else near(zone, names)
    return refused(
        f"'{zone}' is not a time zone{nearest and f'.{nearest}'}",
        constant(zone, query),
        code=code,
        hint=None if nearest else "write a name such as 'Europe/Berlin'",
    )


def _bad_time(match: re.Match[str], code: str, query: Any) -> SourceError:
    texts = [  # strings in comparisons were checked when the query was compiled
        argument
        for node in walk(query)
        if isinstance(node, tree.Call | tree.ArithmeticOperation)
        for argument in _arguments(node)
        if isinstance(argument, tree.Constant) and isinstance(argument.value, str)
        if argument.start
    ]
    wrong = [
        node
        for node in texts
        if not any(map(str.isdigit, str(node.value))) and str(node.value) not in UNITS
    ]
    node = (wrong or [*texts[:1]] if len(texts) == 1 else wrong)[:1]
    visible = f"'{node[0].value}'" if node else "A string used as a timestamp"
    return refused(
        f"{visible} cannot be parsed as a timestamp",
        node[0] if node else called(match.string, query),
        code=code,
        hint=_interval_hint(node[0].value if node else "")
        or "use toDateTime(x), which returns NULL instead of failing",
    )


_SPAN = re.compile(r"(\d+)\s*(second|minute|hour|day|week|month|quarter|year)s?", re.IGNORECASE)


def _interval_hint(text: Any) -> str | None:
    """For ``now() - '7 days'``."""
    match = _SPAN.fullmatch(str(text).strip())
    return f"write interval {match[1]} {match[2].lower()}" if match else None


def _arguments(node: tree.Call | tree.ArithmeticOperation) -> tuple[Any, ...]:
    return node.args if isinstance(node, tree.Call) else (node.left, node.right)


def _bad_number(match: re.Match[str], code: str, query: Any) -> SourceError:
    kind = types_of_hogql(match["type"])
    hint = "use toInt(x) or toFloat(x), which return NULL instead of failing"
    message = f"'{match['value']}' is not a number ({kind})"
    return refused(message, constant(match["value"], query), code=code, hint=hint)


def _division(_match: re.Match[str], code: str, query: Any) -> SourceError:
    node = next(
        (n for n in walk(query) if getattr(n, "op", None) in {"/", "%"}),
        None,
    ) or next((n for n in calls_in(query) if n.name.lower() in {"modulo", "intdiv", "mod"}), None)
    hint = "use intDivOrZero(a, b) or moduloOrZero(a, b), which return 0"
    return refused("Division by zero", node, code=code, hint=hint)


VALUE_KINDS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (
        re.compile(
            r"cannot compile re2: (?P<pattern>.*?), error: (?P<reason>.*?)"
            r"(?:\. Look at|: [^:]*$|$)",
            re.DOTALL,
        ),
        _bad_regex,
    ),
    (
        re.compile(r"not a valid re2 pattern: (?P<reason>[^:]+): (?P<pattern>.*?)(?:: while|$)"),
        _bad_regex,
    ),
    (re.compile(r"Cannot parse uuid (?P<value>[^:]*)", re.IGNORECASE), _bad_uuid),
    (re.compile(r"Cannot load time zone (?P<zone>[^.\s]+)"), _bad_zone),
    (re.compile(r"Cannot (?:read|parse) (?:DateTime|date)"), _bad_time),
    (
        re.compile(r"Cannot parse string '(?P<value>[^']*)' as (?P<type>\w+)"),
        _bad_number,
    ),
    (re.compile(r"Division by zero"), _division),
)
