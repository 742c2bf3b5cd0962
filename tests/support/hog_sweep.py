"""Calls of every library function and operator with arguments of every type.

A :class:`Call` is one program. :func:`outcome` is the result of its run: the printed line, or
:data:`ERROR`. The texts of errors are not compared.
"""

from collections.abc import Iterator
from itertools import product
from typing import Final, NamedTuple

from hoglet.hog.stdlib.table import STL, LibraryEntry
from support.hog_cases import Case
from support.hog_engines import Ran

ERROR: Final = "error"

VALUES: Final = {
    "null": ("null",),
    "boolean": ("true", "false"),
    "integer": (
        "2", "0", "-1", "12345678901234567890", "9007199254740993", "1767607200", "253402300800",
    ),
    "float": ("1.5", "-0.5", "0.4", "1e21", "1e-7"),
    "nan": ("(0 / 0)",),
    "infinity": ("(1 / 0)",),
    "string": ("'a b,c'", "''", "'null'", "'é'", "'e\u0301'", "'ß'", "'%'"),
    "digits": ("'1234'", "' 7 '", "'-0'", "'1e5'", "'١'", "'0x10'"),
    "pattern": ("'[0-9]{2}'",),
    "json": ("""'{"a": [1, "x"]}'""", """'[1, {"b": null}]'"""),
    "date text": (
        "'2024-05-03'", "'2026-01-05 10:00:00'", "'2026-01-05T10:00:00+02:00'", "'2026-02-30'",
        "'2026-01-05T10:00'", "'10:00'",
    ),
    "half": ("substring('😀', 1, 1)",),
    "array": (
        "[]", "[1, 2]", "[null]", "['b', 'a']", "[[1, 2], ['c', null]]", "[0]", "['a']",
        "[null, 'a', 1]", "[[], [1, [2, null]]]",
    ),
    "tuple": ("tuple(1, 'a')", "tuple(1)", "tuple(null, (1, 2))"),
    "object": ("{}", "{'a': 1}", "{'length': 2}", "{'a': {'b': [1]}}"),
    "date": ("toDate('2024-05-03')", "toDate('1969-12-31')"),
    "datetime": (
        "toDateTime('2024-05-03T12:34:56Z')", "toDateTime('2026-03-29T01:30:00', 'Europe/Berlin')",
    ),
    "error": ("Error('m')", "Error('m', {'a': 1})", "HogError('T', 'm', [1])"),
    "function": ("(x -> x)", "upper", "length", "(() -> 1)", "((a, b) -> a)"),
}  # fmt: skip
"""Hog expressions by the name of their type, the most typical first."""

_FEW: Final = (
    "null", "boolean", "integer", "float", "string", "digits", "array", "object", "datetime",
)  # fmt: skip
VARYING: Final = frozenset({"now", "today", "generateUUIDv4", "randomFloat"})
"""Functions whose results differ from call to call; only wrong counts of arguments are tried."""
_OPERANDS: Final = 3
"""Operators are tried with every pair of the first values of each type."""
_OPERATORS: Final = (
    "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "like", "ilike", "not like",
    "not ilike", "in", "not in", "=~", "!~", "=~*", "!~*", "||", "??", "and", "or",
)  # fmt: skip
_GOOD: Final = {
    "string": "'a b,c'",
    "number": "2",
    "array": "[1, 2]",
    "object": "{'a': 1}",
    "function": "(x -> x)",
    "boolean": "true",
    "date": "toDate('2024-05-03')",
    "datetime": "toDateTime('2024-05-03T12:34:56Z')",
    "any": "'a b,c'",
}
_TYPICAL: Final = {
    "dateAdd": ("'day'", "2", "toDate('2024-05-03')"),
    "dateDiff": ("'day'", "toDate('2024-05-03')", "toDateTime('2024-05-04T12:34:56Z')"),
    "dateTrunc": ("'month'", "toDateTime('2024-05-03T12:34:56Z')", "'UTC'"),
    "extract": ("'month'", "toDate('2024-05-03')"),
    "formatDateTime": ("toDateTime('2024-05-03T12:34:56Z')", "'%Y-%m-%d %H'", "'UTC'"),
    "toTimeZone": ("toDateTime('2024-05-03T12:34:56Z')", "'Europe/Berlin'"),
    "toDateTime": ("'2024-05-03 12:34:56'", "'Europe/Berlin'"),
    "toUnixTimestamp": ("'2024-05-03 12:34:56'", "'Europe/Berlin'"),
    "toUnixTimestampMilli": ("'2024-05-03 12:34:56'", "'Europe/Berlin'"),
    "isIPAddressInRange": ("'10.1.2.3'", "'10.0.0.0/8'"),
    "match": ("'a1'", "'[0-9]'"),
    "extractRegex": ("'a12'", "'[0-9]+'"),
    "splitByString": ("','", "'a,b,c'", "2"),
    "multiSearchAnyCaseInsensitive": ("'A b'", "['B']"),
    "in": ("1", "[1, 2]"),
    "inCohort": ("1", "[1, 2]"),
    "notInCohort": ("1", "[1, 2]"),
    "md5": ("'a'", "'hex'"),
    "sha1": ("'a'", "'base64'"),
    "sha256": ("'a'", "'base64url'"),
    "sha1HmacChain": ("['k', 'm']", "'hex'"),
    "sha256HmacChain": ("['k', 'm']", "'hex'"),
    "JSONHas": ("""'{"a": [1]}'""", "'a'", "1"),
    "JSONLength": ("""'{"a": [1]}'""", "'a'", "1"),
    "JSONExtract": ("""'{"a": [1]}'""", "'a'", "'Int'"),
    "JSONExtractBool": ("""'{"a": [true]}'""", "'a'", "1"),
    "JSONExtractInt": ("""'{"a": [1]}'""", "'a'", "1"),
    "JSONExtractFloat": ("""'{"a": [1]}'""", "'a'", "1"),
    "JSONExtractString": ("""'{"a": [1]}'""", "'a'", "1"),
    "JSONExtractArrayRaw": ("""'{"a": [1]}'""", "'a'", "1"),
    "jsonStringify": ("{'a': 1}", "2"),
    "arrayReduce": ("((a, b) -> a + b)", "[1, 2]", "0"),
    "arrayStringConcat": ("['a', 'b']", "','"),
    "replaceOne": ("'a b,c'", "'b'", "'x'"),
    "replaceAll": ("'a b,c'", "'b'", "'x'"),
    "substring": ("'abc'", "2", "1"),
    "trim": ("' a '", "' '"),
    "trimLeft": ("' a '", "' '"),
    "trimRight": ("' a '", "' '"),
    "startsWith": ("'abc'", "'a'"),
    "range": ("1", "3"),
    "HogError": ("'T'", "'m'", "1"),
}  # fmt: skip
OPERATIONS: Final = (*_OPERATORS, "not", "negation", "between", "property")
"""Values of :attr:`Call.function` that are operations instead of functions."""
# With such an argument, the machine appends items to the array for ever.
_ENDLESS: Final = {
    "range": (
        "12345678901234567890", "9007199254740993", "1767607200", "253402300800", "1e21", "(1 / 0)",
    )
}  # fmt: skip


class Call(NamedTuple):
    """One call or operation.

    Attributes:
        function: name of the function, or the operator.
        types: names of the types of the arguments, e.g. ``("string", "null")``.
        source: the Hog program.
    """

    function: str
    types: tuple[str, ...]
    source: str

    def __str__(self) -> str:
        return self.source.removeprefix("print(").removesuffix(")")


def calls() -> Iterator[Call]:
    """Every call of the sweep, in a fixed order."""
    for entry in STL.values():
        yield from dict.fromkeys(_calls_of(entry))
    yield from dict.fromkeys(_operations())


def outcome(ran: Ran) -> str:
    """The result of a run: the printed text, or :data:`ERROR`."""
    return ERROR if ran.error is not None else "\n".join(ran.lines)


def case(call: Call) -> Case:
    """The call as a case for the test engines."""
    return Case(name=str(call), source=call.source)


def _calls_of(entry: LibraryEntry) -> Iterator[Call]:
    if entry.form == "async":
        return
    most = min(entry.most if entry.most is not None else 3, 3)
    yield from _wrong_counts(entry, most)
    if entry.name in VARYING:
        return
    typical = _typical(entry, max(most, 1))
    for count in range(entry.least, most + 1):
        yield _call(entry.name, typical[:count])
        for index in range(count):
            for given in _all_values():
                yield _call(entry.name, [*typical[:index], given, *typical[index + 1 : count]])
        if count > 1:
            for pair in product(_few(), repeat=2):
                yield _call(entry.name, [*pair, *typical[2:count]])


def _wrong_counts(entry: LibraryEntry, most: int) -> Iterator[Call]:
    counts = [entry.least - 1, *([] if entry.most is None else [most + 1])]
    for count in counts:
        if count >= 0:
            yield _call(entry.name, [("integer", "2")] * count)


def _typical(entry: LibraryEntry, count: int) -> list[tuple[str, str]]:
    texts = _TYPICAL.get(entry.name)
    if texts is None:
        inner = entry.types[1 : entry.types.index(") ->")]
        words = [word.strip(" ?.") for word in inner.split(",")]
        words += words[-1:] * count
        texts = tuple(_GOOD[word.split(" | ")[0]] for word in words if word)
    return [(_type_of(text), text) for text in texts[:count]]


def _type_of(text: str) -> str:
    """The type name of a typical argument."""
    for name, texts in VALUES.items():
        if text in texts:
            return name
    starts = {"[": "array", "{": "object", "toDateTime": "datetime", "toDate(": "date"}
    starts |= {"((": "function", "'": "string"}
    return next((name for start, name in starts.items() if text.startswith(start)), "integer")


def _all_values() -> Iterator[tuple[str, str]]:
    return ((name, text) for name, texts in VALUES.items() for text in texts)


def _few() -> Iterator[tuple[str, str]]:
    return ((name, VALUES[name][0]) for name in _FEW)


def _call(name: str, arguments: list[tuple[str, str]]) -> Call:
    texts = [text for _, text in arguments]
    return Call(name, tuple([kind for kind, _ in arguments]), f"print({name}({', '.join(texts)}))")


def is_endless(call: Call) -> bool:
    """Whether the official VM would never return from a call."""
    return any(text in call.source for text in _ENDLESS.get(call.function, ()))


def _operations() -> Iterator[Call]:
    values = [
        (name, f"({text})" if text.startswith("-") else text)
        for name, texts in VALUES.items()
        for text in texts[:_OPERANDS]
    ]
    for operator in _OPERATORS:
        for (left, first), (right, second) in product(values, repeat=2):
            yield Call(operator, (left, right), f"print({first} {operator} {second})")
    for name, text in values:
        yield Call("not", (name,), f"print(not {text})")
        yield Call("negation", (name,), f"print(-{text})")
        yield Call("between", (name,), f"print({text} between 1 and '3')")
        yield Call("property", (name,), f"let v := {text}; print(v.a, v[1], v['length'], v[-1])")
