"""Library functions that generated code calls as methods return what the functions return."""

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.run_to_end import run_program
from hoglet.hog.runtime import compare

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
    "startsWith(VALUE, b)",
    "startsWith(VALUE, none)",
    "startsWith(VALUE, '' || half)",
    "position(VALUE, b)",
    "position(VALUE, half)",
    "position(VALUE, two)",
    "replaceAll(VALUE, b, '_')",
    "replaceOne(VALUE, none, '_')",
    "replaceAll(VALUE, emptied, '-')",
    "substring(VALUE, two)",
    "substring(VALUE, two, two)",
    "substring(VALUE, minus, two)",
    "substring(VALUE, two, fraction)",
    "substring(VALUE, none, two)",
    "substring(VALUE, two + 1, two)",
    "substring(VALUE, huge, two)",
    "length(VALUE || b)",
    "substring(VALUE, 1, length(VALUE))",
    "substring(VALUE, 2, length(VALUE) - 1)",
    "substring(VALUE, 3, length(VALUE) - 1)",
    "substring(VALUE, 2, length(VALUE) - 2)",
    "substring(VALUE, two, length(VALUE))",
    "substring(VALUE, minus, length(VALUE))",
    "substring(VALUE, fraction, length(VALUE))",
    "substring(VALUE, length(VALUE) - 1, 2)",
    "substring(VALUE, length(VALUE), 1)",
    "substring(VALUE, two + 1, 1)",
    "substring(VALUE, huge, 1)",
    "has(keys(VALUE), 'a')",
    "has(keys(VALUE), '__hogDate__')",
    "has(keys(VALUE), two)",
]
VARIABLES = (
    "let b := 'b'; let none := null; let half := substring('🙂', 1, 1); let two := 2; "
    "let minus := -1; let fraction := 1.5; let huge := 2 ** 40; let emptied := trim(' '); "
).replace("2 ** 40", "1099511627776")


def outcome(source: str, value: object) -> tuple[object, str | None]:
    done = run_program(source, globals={"given": value})
    return done.result, done.error and done.error.text


@pytest.mark.parametrize("call", CALLS)
def test_a_method_gives_what_the_function_gives(call: str) -> None:
    name = call.partition("(")[0]
    through_a_value = (
        f"{VARIABLES} let f := {name}; let v := given; return {call.replace(name, 'f', 1)}"
    )
    for value in VALUES:
        expected = outcome(through_a_value.replace("VALUE", "v"), value)
        assert outcome(f"{VARIABLES} return {call}".replace("VALUE", "given"), value) == expected, (
            value
        )
        source = f"{VARIABLES} let v := given; return {call}"
        assert outcome(source.replace("VALUE", "v"), value) == expected


@pytest.mark.parametrize("call", CALLS)
def test_a_method_of_an_expression_gives_what_one_of_a_variable_gives(call: str) -> None:
    for value in VALUES:
        of_variable = f"{VARIABLES} let v := toString(given); return {call.replace('VALUE', 'v')}"
        of_expression = f"{VARIABLES} return {call.replace('VALUE', 'toString(given)')}"
        assert outcome(of_expression, value) == outcome(of_variable, value), value


def test_calculated_positions_and_lengths_are_no_calls() -> None:
    source = "let v := given let n := 3 return [substring(v, n + 1, 1), substring(v, n - 1, 2), "
    source += "substring(v, 2, length(v) - 1)]"
    text = compile_python(compile_program(source)).source

    assert text.count(" else L_substring(") == text.count("L_substring(") == 3


@pytest.mark.parametrize("key", ["'a'", "'__hogDate__'", "k", "none", "two", "0", "true"])
@pytest.mark.parametrize("operator", ["in", "not in"])
def test_keys_are_looked_up_as_in_the_array_of_keys(operator: str, key: str) -> None:
    head = "let k := 'a' let none := null let two := 2 let v := given let own := {'a': v} "
    head += "own[2] := 1 own[true] := 1 let all := keys(given) let kept := keys(own) "
    holders = ["given", "v", "own.a", "{'a': 1, 'b': given}"]
    tests = [f"{key} {operator} keys({holder})" for holder in holders]
    slow = f"let a := {key} {operator} all let b := {key} {operator} kept "
    slow += f'let c := {key} {operator} jsonParse(\'["a", "b"]\') return [a, a, a, c, b]'
    for value in [*VALUES, {"a": None}, {"b": 1, "a": 2}, {"x": {"a": 1}}]:
        fast = f"{head} return [{', '.join(tests)}, {key} {operator} keys(own)]"
        assert outcome(fast, value) == outcome(head + slow, value), value


@pytest.mark.parametrize("count", ["length(o.a)", "length(o.b)", "length(o.a) - 1", "length(v)"])
def test_the_rest_of_a_field_is_what_the_function_gives(count: str) -> None:
    head = "let v := given let o := {'a': v, 'b': 'x'} "
    for value in VALUES:
        expected = outcome(f"{head} let f := substring return f(o.a, 2, {count})", value)
        assert outcome(f"{head} return substring(o.a, 2, {count})", value) == expected, value


def test_the_rest_of_a_field_is_a_slice() -> None:
    source = "return substring(event.properties.a, 2, length(event.properties.a) - 1)"

    assert "[2 - 1:] if" in compile_python(compile_program(source)).source


def test_a_short_text_from_its_first_character_on_is_all_of_it() -> None:
    source = "let v := given return [substring(v, 1), substring(v, 2), length(v), upper(v)]"

    assert outcome(source, "abc")[0] == ["abc", "bc", 3, "ABC"]


def test_a_key_is_looked_up_without_the_array_of_keys() -> None:
    source = "let p := event.properties for (let k in ['a', 'b']) { "
    source += "print(k in keys(p), k in keys(event.properties), has(keys(p), k)) }"

    assert "R_keys" not in compile_python(compile_program(source)).source


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">="])
@pytest.mark.parametrize("literal", ["b", "", "B9", "🙂", "é"])
def test_strings_are_ordered_around_literals_as_around_variables(
    operator: str, literal: str
) -> None:
    source = f"return [given {operator} '{literal}', '{literal}' {operator} given]"
    unknown = f"let t := [given, '{literal}'] return [t[1] {operator} t[2], t[2] {operator} t[1]]"
    for value in [*VALUES, "\ue000", "\uffff", "b\ue000", "b🙂", "\udc00", "B9", "b"]:
        assert outcome(source, value) == outcome(unknown, value)


NUMBERS = [
    "0",
    "1",
    "-1",
    "1.5",
    "1.0",
    "0/0",
    "1/0",
    "-1/0",
    "9007199254740992",
    "true",
    "'1'",
    "null",
]
FUNCTIONS = {
    "<": compare.less, "<=": compare.less_equal, ">": compare.greater,
    ">=": compare.greater_equal, "=": compare.equal, "!=": compare.not_equal,
}  # fmt: skip


@pytest.mark.parametrize("operator", FUNCTIONS)
def test_numbers_are_compared_in_place_as_by_functions(operator: str) -> None:
    values = f"let values := [{', '.join(NUMBERS)}]"
    loops = "for (let a in values) { for (let b in values) { print(a OPERATOR b) } }"
    unknown = [run_program(f"return [{text}]").result[0] for text in NUMBERS]
    expected = [FUNCTIONS[operator](a, b) for a in unknown for b in unknown]
    lines = run_program(f"{values} {loops.replace('OPERATOR', operator)}").lines
    assert lines == [str(outcome).lower() for outcome in expected]
    for index, text in enumerate(NUMBERS):
        source = f"{values} for (let a in values) {{ print(a {operator} ({text})) }}"
        beside_literal = [str(FUNCTIONS[operator](a, unknown[index])).lower() for a in unknown]
        assert run_program(source).lines == beside_literal


@pytest.mark.parametrize("index", ["i + 1", "i - 1", "i - 3", "i * 1.5", "n + 1", "i % 2 + 1"])
@pytest.mark.parametrize("array", ["[1, 'a', null]", "'text'", "{'a': 1}", "null", "(1, 'a')"])
def test_computed_indexes(index: str, array: str) -> None:
    source = f"let n := given let a := {array} let out := [] let k := 0 for (let i := 0; i < 5; "
    source += "i := i + 1) { try { out := arrayPushBack(out, a[INDEX]) } catch (e) { k := k + 1 } }"
    source += " return [out, k]"
    through_a_variable = source.replace("{ try", f"{{ let j := {index} try").replace("INDEX", "j")
    for value in (0, 1, 1.5, None, "1"):
        direct = outcome(source.replace("INDEX", index), value)
        assert direct == outcome(through_a_variable, value)


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
