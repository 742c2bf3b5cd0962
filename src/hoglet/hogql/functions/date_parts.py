"""Date parts and formats of PostgreSQL: ``extract(dow from x)``, ``to_char``.

Parts are integers: seconds and epoch have no fraction. Weeks are ISO 8601 weeks.
"""

import re

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import near, refused
from hoglet.hogql.functions.datetime_zone import as_time, instant
from hoglet.hogql.plan import Expr, FunctionCall, Number, TrustedSQL, Value
from hoglet.hogql.types import INTEGER, STRING, Type

_PARTS: dict[str, tuple[str, str]] = {
    "millennium": ("intDiv(toYear(", ") + 999, 1000)"),
    "century": ("intDiv(toYear(", ") + 99, 100)"),
    "decade": ("intDiv(toYear(", "), 10)"),
    "year": ("toYear(", ")"),
    "isoyear": ("toISOYear(", ")"),
    "quarter": ("toQuarter(", ")"),
    "month": ("toMonth(", ")"),
    "week": ("toISOWeek(", ")"),
    "day": ("toDayOfMonth(", ")"),
    "dow": ("toDayOfWeek(", ") % 7"),
    "isodow": ("toDayOfWeek(", ")"),
    "doy": ("toDayOfYear(", ")"),
    "hour": ("toHour(", ")"),
    "minute": ("toMinute(", ")"),
    "second": ("toSecond(", ")"),
    "epoch": ("toUnixTimestamp(", ")"),
}
_CLOCK = frozenset({"hour", "minute", "second", "epoch"})


def date_part(args: tuple[Expr, ...], _type: Type, context: QueryContext) -> Expr:
    """A date part; a unit that is not known yet (a variable when saving) is any number."""
    unit, at = _unit(args[0]), as_time(args[1], context)
    at = instant(at, context) if unit in _CLOCK else at
    before, after = _PARTS[unit]
    type_ = INTEGER.or_null(at.type.nullable)
    return TrustedSQL(parts=(f"toInt64({before}", at, f"{after})"), type=type_)


def _unit(expr: Expr) -> str:
    if isinstance(expr, Number) and expr.text == "NULL":
        return "year"
    word = str(expr.value).strip().lower() if isinstance(expr, Value) else ""
    for unit in (word, word.removesuffix("s")):
        if unit in _PARTS:
            return unit
    visible = f"'{word}'" if word else "this expression"
    raise refused(f"Unknown part of a time: {visible}.{near(word, _PARTS)}")


def to_char(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
    """PostgreSQL formats; formats with a percent sign are the engine's own."""
    pattern = args[1]
    if isinstance(pattern, Value) and "%" not in str(pattern.value):
        words = _CHAR_WORDS.sub(lambda found: _CHAR_PATTERNS[found.group()], str(pattern.value))
        pattern = Value(value=words, bind="String", type=STRING)
    return FunctionCall(function="formatDateTime", args=(args[0], pattern), type=type_)


_CHAR_PATTERNS = {
    "YYYY": "%Y", "YY": "%y", "IYYY": "%G", "Q": "%Q", "MM": "%m", "Month": "%M", "Mon": "%b",
    "IW": "%V", "DDD": "%j", "DD": "%d", "D": "%w", "ID": "%u", "Day": "%W", "Dy": "%a",
    "HH24": "%H", "HH12": "%I", "HH": "%I", "MI": "%i", "SS": "%S", "US": "%f", "AM": "%p",
    "PM": "%p",
}  # fmt: skip
_CHAR_WORDS = re.compile("|".join(sorted(_CHAR_PATTERNS, key=len, reverse=True)))
