"""Prints calls of library functions as string methods, for short string arguments.

A call costs more than most of these methods. Other arguments are passed to the function, which
returns the same for short strings: ``tests/unit/hog/test_text_calls.py`` compares them.

Source: docs/spec/hog-language.md#9-standard-library.
"""

from collections.abc import Callable, Container
from typing import Final, NamedTuple

from hoglet.hog.python.codegen.operands import Operand, Temporaries


class _Form(NamedTuple):
    """How a function is printed: in ``text``, ``{0}`` is the string; literals follow.

    ``{3}`` is the end of the slice if these are a position and a length.

    Attributes:
        text: the expression.
        literals: what the other arguments must be: ``t`` a literal text, ``r`` a short one that
            may be empty, ``n`` a literal positive number; ``x`` a text and ``i`` a positive number,
            which may also be variables.
        position: the string's index among the arguments.
        is_new: long strings are passed to the function, which charges the memory.
        is_ascii: so are strings that are not ASCII.
    """

    text: str
    literals: str = ""
    position: int = 0
    is_new: bool = False
    is_ascii: bool = False


_FORMS: Final[dict[tuple[str, int], _Form]] = {
    ("lower", 1): _Form("LOWER({0})", is_new=True),
    ("upper", 1): _Form("UPPER({0})", is_new=True),
    ("trim", 1): _Form("STRIP({0}, ' ')"),
    ("toString", 1): _Form("{0}"),
    ("empty", 1): _Form("not {0}"),
    ("notEmpty", 1): _Form("{0} != ''"),
    ("startsWith", 2): _Form("STARTS({0}, {1})", "x"),
    ("splitByString", 2): _Form("SPLIT({0}, {1})", "t", position=1, is_new=True),
    ("splitByString", 3): _Form("SPLIT({0}, {1})[:{2}]", "tn", position=1, is_new=True),
    ("replaceAll", 3): _Form("REPLACE({0}, {1}, {2})", "xr", is_new=True, is_ascii=True),
    ("replaceOne", 3): _Form("REPLACE({0}, {1}, {2}, 1)", "xr", is_new=True, is_ascii=True),
    ("position", 2): _Form("FIND({0}, {1}) + 1", "x", is_ascii=True),
    ("substring", 2): _Form("{0}[{1} - 1:]", "i", is_new=True, is_ascii=True),
    ("substring", 3): _Form("{0}[{1} - 1:{3}]", "ii", is_new=True, is_ascii=True),
}
SAME_FOR_RAW: Final = frozenset({"empty", "notEmpty", "length", "isNull", "isNotNull"})
"""Functions that return the same for host data that was not imported."""

METHODS: Final = {
    "LOWER": str.lower,
    "UPPER": str.upper,
    "STRIP": str.strip,
    "STARTS": str.startswith,
    "SPLIT": str.split,
    "REPLACE": str.replace,
    "FIND": str.find,
}
"""The methods by their names in generated code."""


def method_call(
    name: str, operands: list[Operand], new: Temporaries, short: Container[str] = ()
) -> str | None:
    """The call as a method, with the function as fallback; None if it has no such form.

    ``short`` has the names ``v1`` of variables for which ``s1`` says whether they are short ASCII.
    """
    form = _FORMS.get((name, len(operands)))
    if form is None or operands[form.position].constant:
        return None
    literals = [operand for index, operand in enumerate(operands) if index != form.position]
    tests = [_TESTS[test](item) for test, item in zip(form.literals, literals, strict=True)]
    if None in tests:
        return None
    subject = operands[form.position]
    first, again = new.twice(subject)
    if again in short:
        tests.insert(0, f"s{again[1:]}")
    else:
        tests[:0] = _subject_tests(subject, first, again, form)
    test = " and ".join(filter(None, tests))
    if name == "substring" and len(operands) == 3 and operands[2].value == 1:
        return _character(operands, first, again, short)
    text = form.text.format(again, *(item.text for item in literals), _end(literals))
    if not test:
        return f"({text})"
    if subject.raw and name == "toString":
        return f"({text} if {test} else R_toString({again}))"
    whole = f"imp({again})" if subject.raw and name not in SAME_FOR_RAW else again
    given = [whole if index == form.position else item.text for index, item in enumerate(operands)]
    return f"({text} if {test} else L_{name}({', '.join(given)}))"


def _subject_tests(subject: Operand, first: str, again: str, form: _Form) -> list[str]:
    """What has to be tested of the string; the first test evaluates it, unless it is a name."""
    is_text = subject.kind == "S" and not subject.raw
    tests = [] if is_text and subject.atom else [f"type({first}) is S"]
    if form.is_new:
        tests.append(f"LEN({again}) <= 256")
    if form.is_ascii:
        tests.append(f"{again}.isascii()")
    return tests


def _character(operands: list[Operand], first: str, again: str, short: Container[str]) -> str:
    """``substring(text, i, 1)`` of ASCII; reading a character is faster than a slice."""
    subject, position, _ = operands
    index = position.text
    is_text = f"type({first}) is S and {again}.isascii()"
    is_ascii = f"{first}.isascii()" if subject.kind == "S" else is_text
    tests = [f"s{again[1:]}" if again in short else is_ascii]
    if not position.constant and position.kind != "C":
        tests.append(f"type({index}) is I")
    test = " and ".join([*tests, f"0 < {index} <= LEN({again})"])
    whole = f"imp({again})" if subject.raw else again
    return f"({again}[{index} - 1] if {test} else L_substring({whole}, {index}, 1))"


def rest_of_text(operands: list[Operand], new: Temporaries, short: Container[str]) -> str | None:
    """``substring(text, start, count)`` if the count is known to reach to the end of the text."""
    subject, start, count = operands
    is_first = _number_test(start)
    if is_first is None or subject.constant:
        return None
    first, again = new.twice(subject)
    is_known = subject.kind == "S" and subject.atom and not subject.raw
    test = f"LEN({again}) <= 256 and {again}.isascii()"
    test = test if is_known else f"type({first}) is S and {test}"
    test = f"s{again[1:]}" if again in short else test
    test = " and ".join(filter(None, [test, is_first]))
    whole = f"imp({again})" if subject.raw else again
    slow = f"L_substring({whole}, {start.text}, {count.text})"
    return f"({again}[{start.text} - 1:] if {test} else {slow})"


def _end(numbers: list[Operand]) -> str:
    """The end of a slice with this first position, from 1, and this length."""
    first, count = numbers[0].text if numbers else "", numbers[-1].text if numbers else ""
    return first if count == "1" else f"{first} + {count} - 1"


def _is_plain_text(operand: Operand) -> bool:
    """Whether an operand is a literal that the method handles correctly: non-empty ASCII."""
    return isinstance(operand.value, str) and operand.value != "" and operand.value.isascii()


def _is_small_limit(operand: Operand) -> bool:
    return type(operand.value) is int and 0 < operand.value < 2**31


def _is_replacement(operand: Operand) -> bool:
    """Whether a text is so short that a replaced text of 256 characters stays below a kilobyte."""
    return operand.value == "" or (_is_plain_text(operand) and len(operand.value) <= 4)


def _text_test(operand: Operand) -> str | None:
    """:func:`_is_plain_text` of a literal or a variable."""
    if operand.constant:
        return "" if _is_plain_text(operand) else None
    if not operand.atom or operand.raw or operand.kind not in "SA":
        return None
    name = operand.text
    is_text = f"{name} and {name}.isascii()"
    return is_text if operand.kind == "S" else f"type({name}) is S and {is_text}"


def _number_test(operand: Operand) -> str | None:
    """:func:`_is_small_limit` of a literal or a variable."""
    if operand.constant:
        return "" if _is_small_limit(operand) else None
    if not operand.atom or operand.raw or operand.kind not in "CKA":
        return None
    is_positive = f"{operand.text} > 0"
    return is_positive if operand.kind == "C" else f"type({operand.text}) is I and {is_positive}"


_TESTS: Final[dict[str, Callable[[Operand], str | None]]] = {
    "t": lambda operand: "" if _is_plain_text(operand) else None,
    "r": lambda operand: "" if _is_replacement(operand) else None,
    "n": lambda operand: "" if _is_small_limit(operand) else None,
    "x": _text_test,
    "i": _number_test,
}
"""What has to be tested in a run for each kind of argument; None if it has another form."""
