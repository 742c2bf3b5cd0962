"""Library functions that generated code calls as methods return what the functions return."""

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.run_to_end import run_program

VALUES = [
    None, "", " ", "  a b ", "Ada", "a=b=c", "=", "=a", "utm_source", "UTM_",
    "ß İ ǅ", "\u00a0a\u00a0",
    "🙂=🙂", "a" * 300 + "=b", "A" * 256, 0, 1.5, -0.0, True, False, [], ["a"], {}, {"a": 1},
    {"__hogDate__": True, "year": 2024, "month": 5, "day": 3},
]  # fmt: skip
CALLS = [
    "lower(VALUE)",
    "upper(VALUE)",
    "trim(VALUE)",
    "toString(VALUE)",
    "empty(VALUE)",
    "notEmpty(VALUE)",
    "isNull(VALUE)",
    "isNotNull(VALUE)",
    "startsWith(VALUE, 'utm_')",
    "startsWith(VALUE, '')",
    "startsWith(VALUE, 1)",
    "splitByString(1, VALUE)",
    "splitByString(1, VALUE, 1)",
    "splitByString('=', VALUE, '1')",
    "splitByString('=', VALUE, 'x')",
    "splitByString('=', VALUE, true)",
    "splitByString('=', VALUE)",
    "splitByString('=', VALUE, 1)",
    "splitByString('=', VALUE, 2)",
    "splitByString('=', VALUE, 0)",
    "splitByString('=', VALUE, -1)",
    "splitByString('', VALUE)",
    "splitByString('🙂', VALUE)",
    "position(VALUE, 'b')",
    "position(VALUE, '')",
    "position(VALUE, '🙂')",
    "substring(VALUE, 1, 2)",
    "substring(VALUE, 2)",
    "substring(VALUE, 2, 0)",
    "substring(VALUE, 0, 2)",
    "substring(VALUE, -1, 2)",
    "substring(VALUE, 300, 200)",
    "substring(VALUE, 1.5, 2)",
    "substring(VALUE, 1, null)",
    "substring(VALUE, 1, 40)",
    "replaceAll(VALUE, 'a', '')",
    "replaceAll(VALUE, ' ', '_')",
    "replaceAll(VALUE, 'a', 'much longer')",
    "replaceAll(VALUE, '', '-')",
    "replaceAll(VALUE, '🙂', '-')",
    "replaceAll(VALUE, 'a', 1)",
    "replaceOne(VALUE, 'a', '')",
    "replaceOne(VALUE, '=', '==')",
    "position(VALUE, '=')",
    "length(VALUE)",
    "typeof(VALUE)",
    "has(VALUE, 'a')",
    "keys(VALUE)",
    "round(VALUE)",
]


def outcome(source: str, value: object) -> tuple[object, str | None]:
    done = run_program(source, globals={"given": value})
    return done.result, done.error and done.error.text


@pytest.mark.parametrize("call", CALLS)
def test_a_method_gives_what_the_function_gives(call: str) -> None:
    name = call.partition("(")[0]
    through_a_value = f"let f := {name}; let v := given; return {call.replace(name, 'f', 1)}"
    for value in VALUES:
        expected = outcome(through_a_value.replace("VALUE", "v"), value)
        assert outcome(f"return {call}".replace("VALUE", "given"), value) == expected, value
        assert outcome(f"let v := given; return {call}".replace("VALUE", "v"), value) == expected


def test_a_half_of_a_character_is_split_and_joined_again() -> None:
    done = run_program("let h := substring('🙂', 1, 1); return splitByString('=', h || '=' || h)")
    assert done.result == ["\ud83d", "\ud83d"]


def test_a_function_of_the_host_is_called_instead() -> None:
    done = run_program("return lower('A' || '')", functions={"lower": lambda text: text + "!"})
    assert done.result == "A!"


def test_long_results_are_charged() -> None:
    source = compile_python(compile_program("return lower(given)")).source
    assert "LOWER" in source
    assert "<= 256" in source


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        ("for (let v in ['a', 'b']) { print(v || '!') }", ["a!", "b!"]),
        ("for (let v in splitByString(',', 'a,b')) { v := v || '!' print(v) }", ["a!", "b!"]),
        ("for (let v in splitByString(',', null)) { print(v) }", []),
        ("for (let v in ['a', 'b']) { v := 5 print(v + 1) }", ["6", "6"]),
        ("for (let v in ['a', 1]) { print(v = 1) }", ["false", "true"]),
        ("for (let v in keys({'a': 1, 2: 3})) { print(typeof(v)) }", ["string", "integer"]),
        ("let a := ['x'] for (let v in [a, a]) { v[1] := v[1] || 'y' } print(a)", ["['xyy']"]),
        ("let d := {'a': 1} for (let k in keys(d)) { d.b := 2 } print(d)", ["{'a': 1, 'b': 2}"]),
        ("let f for (let v in ['a', 'b']) { f := f ?? (() -> v) } print(f())", ["a"]),
    ],
)
def test_loops_over_new_arrays(source: str, printed: list[str]) -> None:
    assert run_program(source).lines == printed


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        (
            "try { throw Error('m', {'a': 1}) } catch (e) { print(e.type, e.payload.a) }",
            ["Error 1"],
        ),
        (
            "try { throw HogError(5, 'm') } catch (e) { print(e.type, typeof(e.type)) }",
            ["5 integer"],
        ),
        (
            "try { throw Error('m') } catch (e) { print(e.no, e.__hogError__, e['message']) }",
            ["null true m"],
        ),
        ("try { throw Error('m') } catch (e) { e := 'x' print(e, e.message) }", ["x null"]),
        (
            "try { throw Error('m') } catch (e) { let f := () -> e.message print(f(), e ?? 1) }",
            ["m Error('m')"],
        ),
        (
            "try { throw Error('m') } catch (e: Error) { print(f'{e}', e = null, [e][1] = e) }",
            ["Error('m') false true"],
        ),
    ],
)
def test_caught_errors(source: str, printed: list[str]) -> None:
    assert run_program(source).lines == printed


OPERATORS = [
    "typeof(VALUE) = 'array'", "typeof(VALUE) != 'array'", "typeof(VALUE) = 'object'",
    "typeof(VALUE) != 'object'", "typeof(VALUE) = 'null'", "'boolean' = typeof(VALUE)",
    "typeof(VALUE) != 'null'", "typeof(VALUE) = 'date'", "typeof(VALUE) = 'tuple'",
    "VALUE ilike '%a%'", "VALUE not ilike '%A%'", "VALUE ilike 'İ'", "VALUE ilike '%a%b%'",
    "VALUE like '%a_c%'", "VALUE not like 'b%_'", "VALUE like '_%'", "VALUE like '%é_%'",
    "VALUE not like '%x%y'",
    "VALUE ilike ''", "VALUE in keys(o)", "VALUE not in keys(o)", "length(keys(VALUE))",
    "o[VALUE]", "has(['a', 'Ada', 1], VALUE)", "VALUE ?? 'none'", "f'{VALUE}!'", "VALUE + 1",
    "VALUE * 2", "1 - VALUE", "VALUE % 7", "not VALUE", "VALUE ? 1 : 2", "VALUE ?? 1 > 0.5",
]  # fmt: skip


@pytest.mark.parametrize("expression", OPERATORS)
@pytest.mark.parametrize("is_own", [True, False])
def test_an_operator_gives_what_a_traced_program_gives(expression: str, is_own: bool) -> None:
    given = "[given][1]" if is_own else "given"
    source = f"let o := {{'a': 1, 'Ada': 2}}; o[1.5] := 3; let v := {given}; return "
    source += expression.replace("VALUE", "v")
    for value in [*VALUES, 2**60, 10.0, "true"]:
        fast = run_program(source, globals={"given": value})
        traced = run_program(source, globals={"given": value}, trace=True)
        texts = [done.error and done.error.text for done in (fast, traced)]
        assert (repr(fast.result), texts[0]) == (repr(traced.result), texts[1]), value
