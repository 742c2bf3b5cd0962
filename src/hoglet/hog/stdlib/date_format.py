"""``formatDateTime``: patterns of ClickHouse, compiled once."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final

from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.dates import (
    instant,
    to_datetime,
    zone_info,
    zone_name,
)
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.values import HogDate, HogDateTime

type _Getter = str | Callable[[datetime], Any]
"""An attribute of a datetime, or a function of one."""


def format_date_time(value: Any, pattern: Any, zone: Any = None) -> Any:
    if value is None:
        return None
    if type(value) is HogDateTime:
        moment = to_datetime(value.seconds, value.zone)
    elif type(value) is HogDate:
        moment = to_datetime(instant(value))
    else:
        raise EngineError("Expected a DateTime")
    if moment is None or type(pattern) is not str:
        return None if moment is None else ""
    if zone is not None and zone != "":
        moment = moment.astimezone(zone_info(zone_name(zone)))
    return _formatted(moment, pattern)


def _formatted(moment: datetime, pattern: str) -> str:
    template, values = _template(pattern) if len(pattern) <= meter.LARGE else _parse(pattern)
    return meter.charged(template % values(moment))


def _parse(pattern: str) -> tuple[str, Callable[[datetime], tuple[Any, ...]]]:
    """A pattern as a template of the ``%`` operator, and the function that returns its values."""
    meter.charged(pattern)
    pieces: list[str] = []
    getters: list[_Getter] = []
    after_sign = False
    for part in meter.chunks(pattern):
        for letter in part:
            if after_sign:
                form, get = _LETTERS.get(letter, _NOTHING)
                pieces.append(form)
                getters.append(get)
                after_sign = False
            elif letter == "%":
                after_sign = True
            else:
                pieces.append(letter)
    return "".join(pieces), _all_of(getters)


def _all_of(getters: list[_Getter]) -> Callable[[datetime], tuple[Any, ...]]:
    names = [get for get in getters if isinstance(get, str)]
    if len(names) == len(getters) > 1:
        return attrgetter(*names)
    calls = [attrgetter(get) if isinstance(get, str) else get for get in getters]
    return lambda moment: tuple([call(moment) for call in calls])


_template = lru_cache(maxsize=512)(_parse)


def _two(number: int) -> str:
    return f"{number:02d}"


def _half_hour(moment: datetime) -> int:
    return (moment.hour + 11) % 12 + 1


def _half(moment: datetime) -> str:
    return "AM" if moment.hour < 12 else "PM"


def _offset(moment: datetime) -> str:
    minutes = int((moment.utcoffset() or timedelta()).total_seconds()) // 60
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}{abs(minutes) % 60:02d}"


_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def _number(form: str, name: str) -> tuple[str, _Getter]:
    return form, name


def _text(get: Callable[[datetime], Any]) -> tuple[str, _Getter]:
    return "%s", get


_NOTHING: Final = _text(lambda _: "")
_LETTERS: Final[dict[str, tuple[str, _Getter]]] = {
    "a": _text(lambda m: _DAYS[m.weekday()][:3]),
    "W": _text(lambda m: _DAYS[m.weekday()]),
    "b": _text(lambda m: _MONTHS[m.month - 1][:3]),
    "M": _text(lambda m: _MONTHS[m.month - 1]),
    "c": _number("%02d", "month"),
    "m": _number("%02d", "month"),
    "d": _number("%02d", "day"),
    "e": _number("%d", "day"),
    "j": _text(lambda m: f"{m.timetuple().tm_yday:03d}"),
    "C": _text(lambda m: _two(m.year % 100)),
    "g": _text(lambda m: _two(m.year % 100)),
    "y": _text(lambda m: _two(m.year % 100)),
    "G": _number("%04d", "year"),
    "Y": _number("%04d", "year"),
    "V": _text(lambda m: _two(m.isocalendar().week)),
    "D": _text(lambda m: f"{_two(m.month)}/{_two(m.day)}/{_two(m.year % 100)}"),
    "F": _text(lambda m: f"{m.year:04d}-{_two(m.month)}-{_two(m.day)}"),
    "u": _text(lambda m: m.isoweekday()),
    "w": _text(lambda m: m.isoweekday()),
    "H": _number("%02d", "hour"),
    "k": _number("%02d", "hour"),
    "h": _text(lambda m: _two(_half_hour(m))),
    "I": _text(lambda m: _two(_half_hour(m))),
    "l": _text(lambda m: _two(_half_hour(m))),
    "p": _text(_half),
    "i": _number("%02d", "minute"),
    "s": _number("%02d", "second"),
    "S": _number("%02d", "second"),
    "f": _text(lambda m: f"{m.microsecond // 1000:03d}"),
    "R": _text(lambda m: f"{_two(m.hour)}:{_two(m.minute)}"),
    "T": _text(lambda m: f"{_two(m.hour)}:{_two(m.minute)}:{_two(m.second)}"),
    "r": _text(lambda m: f"{_two(_half_hour(m))}:{_two(m.minute)} {_half(m)}"),
    "z": _text(_offset),
    "n": _text(lambda _: "\n"),
    "t": _text(lambda _: "\t"),
    "%": _text(lambda _: "%"),
}
