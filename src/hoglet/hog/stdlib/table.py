"""The table of the standard library, from which printers, documentation and tests are derived.

A row is ``name, least, most, call, types, result kind, cost, doc, example, shown``; ``example``
is Hog that prints ``shown``, and tests execute every one.

Source: docs/spec/hog-language.md#9-standard-library.
"""

from collections.abc import Callable
from typing import Any, Final, Literal

import msgspec

from hoglet.hog.runtime import regex as patterns
from hoglet.hog.stdlib import (
    callbacks,
    date_format,
    dates,
    encoding,
    json_functions,
    strings,
    types,
)
from hoglet.hog.stdlib import collections as parts

type Form = Literal["plain", "callback", "async"]
type Cost = Literal["constant", "linear", "sorting"]


class LibraryEntry(msgspec.Struct, frozen=True):
    """A library function.

    Attributes:
        name: its Hog name.
        least: minimum number of arguments.
        most: maximum number of arguments, None for no maximum.
        call: the implementation; ``callback`` ones take the call depth first, ``async`` have none.
        types: e.g. ``(string, number, number?) -> string``.
        result_kind: the kind of its Python value (see ``hog.python.type_facts``).
        cost: how its work grows with its arguments.
        doc: one line.
        example: Hog statements.
        printed: what they print, without the last newline; None if it varies.
        group: heading in the documentation.
        form: ``plain``, ``callback`` or ``async``.
        steps: the generator form of a callback function.
        pure: no effect, and the same result for the same arguments.
        total: never raises an error.
    """

    name: str
    least: int
    most: int | None
    call: Callable[..., Any] | None
    types: str
    result_kind: str
    cost: Cost
    doc: str
    example: str
    printed: str | None
    group: str
    form: Form = "plain"
    steps: Callable[..., Any] | None = None
    pure: bool = True
    total: bool = False

    @property
    def display_arity(self) -> int:
        """The printed arity: the largest one, 0 if unbounded."""
        return self.most or 0

    def arity_fault(self, given: int) -> str | None:
        """The message for a wrong number of arguments, None when it is right."""
        if self.form == "callback":
            if given != self.least:
                return f"Function {self.name} requires exactly {self.least} arguments"
            return None
        if given < self.least:
            return f"Function {self.name} requires at least {self.least} arguments"
        if self.most is not None and given > self.most:
            return f"Function {self.name} requires at most {self.most} arguments"
        return None


def _rows(group: str, *rows: tuple[Any, ...], **more: Any) -> list[LibraryEntry]:
    return [LibraryEntry(*row, group=group, **more) for row in rows]


_A: Final = "(any)"
_TEXT: Final = "(string)"

_TYPES = _rows(
    "Types",
    ("toString", 1, 2, types.to_string, "(any, string?) -> string", "S", "linear", "The value as a string; dates in ISO form.", "print(toString([1, 'a']))", "[1, 'a']"),
    ("toUUID", 1, 1, types.to_string, "(any) -> string", "S", "linear", "The value as a string.", "print(toUUID('a-b'))", "a-b"),
    ("toInt", 1, 1, types.to_int, "(any) -> number?", "A", "constant", "The leading integer of a string; seconds of a DateTime, days of a Date.", "print(toInt('42 km'), toInt(3.99), toInt(true))", "42 3 null"),
    ("toFloat", 1, 1, types.to_float, "(any) -> number?", "A", "constant", "The leading decimal number of a string.", "print(toFloat('1e3'), toFloat('x'))", "1000 null"),
    ("typeof", 1, 1, types.type_of, "(any) -> string", "S", "constant", "The name of the value's type.", "print(typeof(1.0), typeof(1.5), typeof([]))", "integer float array"),
    ("tuple", 0, None, types.make_tuple, "(any...) -> tuple", "A", "constant", "A tuple of the arguments.", "print(tuple(1, 'a'), tuple())", "(1, 'a') tuple()"),
    total=True,
)  # fmt: skip
_NULL = _rows(
    "Null",
    ("ifNull", 2, 2, types.if_null, "(any, any) -> any", "A", "constant", "The first value, or the second if the first is null.", "print(ifNull(null, 2))", "2"),
    ("isNull", 1, 1, types.is_null, "(any) -> boolean", "B", "constant", "Whether a value is null.", "print(isNull(null))", "true"),
    ("isNotNull", 1, 1, types.is_not_null, "(any) -> boolean", "B", "constant", "Whether a value is not null.", "print(isNotNull(null))", "false"),
    ("coalesce", 1, None, types.coalesce, "(any...) -> any", "A", "constant", "The first value that is not null.", "print(coalesce(null, 0, 1))", "0"),
    total=True,
) + _rows(
    "Null",
    ("assumeNotNull", 1, 1, types.assume_not_null, "(any) -> any", "A", "constant", "The value; an error if it is null.", "print(assumeNotNull(1))", "1"),
)  # fmt: skip
_STRINGS = _rows(
    "Strings",
    ("lower", 1, 1, strings.lower, "(string) -> string", "A", "linear", "Converts to lower case.", "print(lower('ÀB'))", "àb"),
    ("upper", 1, 1, strings.upper, "(string) -> string", "A", "linear", "Converts to upper case.", "print(upper('ab'))", "AB"),
    ("reverse", 1, 1, strings.reverse, "(string) -> string", "A", "linear", "Backwards.", "print(reverse('abc'))", "cba"),
    ("trim", 1, 2, strings.trim, "(string, string?) -> string", "A", "linear", "Removes a character, by default a space, at both ends.", "print(trim('  a '), trim('xax', 'x'))", "a a"),
    ("trimLeft", 1, 2, strings.trim_left, "(string, string?) -> string", "A", "linear", "Removes a character at the start.", "print(trimLeft('xax', 'x'))", "ax"),
    ("trimRight", 1, 2, strings.trim_right, "(string, string?) -> string", "A", "linear", "Removes a character at the end.", "print(trimRight('xax', 'x'))", "xa"),
    ("splitByString", 2, 3, strings.split_by_string, "(string, string, number?) -> array", "A", "linear", "Splits at separators; an empty one splits into characters.", "print(splitByString(',', 'a,b,c', 2))", "['a', 'b']"),
    ("replaceOne", 3, 3, strings.replace_one, "(string, string, string) -> string", "A", "linear", "Replaces the first occurrence.", "print(replaceOne('aa', 'a', '$&'))", "$&a"),
    ("replaceAll", 3, 3, strings.replace_all, "(string, string, string) -> string", "A", "linear", "Replaces every occurrence.", "print(replaceAll('aa', 'a', 'b'))", "bb"),
    ("extractRegex", 2, 2, strings.extract_regex, "(string, string) -> string", "A", "linear", "The first group of the first match, or the match.", "print(extractRegex('id=42', 'id=([0-9]+)'))", "42"),
    ("sortableSemver", 1, 1, strings.sortable_semver, "(any) -> array", "A", "linear", "The dotted numbers of a version.", "print(sortableSemver('v10.0.1'))", "[10, 0, 1]"),
    ("match", 2, 2, strings.match, "(string, string) -> boolean", "B", "linear", "Whether an RE2 pattern matches.", "print(match('abc', 'b.'))", "true"),
) + _rows(
    "Strings",
    ("length", 1, 1, strings.length, "(string | array | tuple) -> number?", "A", "constant", "Number of UTF-16 units or items.", "print(length('a😀'), length([1]), length(5))", "3 1 null"),
    ("concat", 1, None, strings.concat, "(any...) -> string", "S", "linear", "Concatenates all arguments as strings; null is empty.", "print(concat('a', 1, null))", "a1"),
    ("position", 2, 3, strings.position, "(string, string, any?) -> number", "C", "linear", "Position of a substring, from 1; 0 if not found.", "print(position('abc', 'c'))", "3"),
    ("positionCaseInsensitive", 2, 3, strings.position_case_insensitive, "(string, string, any?) -> number", "C", "linear", "Like position, ignoring case.", "print(positionCaseInsensitive('aBc', 'C'))", "3"),
    ("substring", 2, 3, strings.substring, "(string, number, number?) -> string", "A", "linear", "A substring, with 1-based positions.", "print(substring('hello', 2, 3))", "ell"),
    ("startsWith", 2, 2, strings.starts_with, "(string, string) -> boolean", "B", "constant", "Whether a string starts with another.", "print(startsWith('abc', 'ab'))", "true"),
    ("like", 2, 2, patterns.like, "(string, string) -> boolean", "B", "linear", "The operator like.", "print(like('banana', 'n_n'))", "true"),
    ("ilike", 2, 2, patterns.ilike, "(string, string) -> boolean", "B", "linear", "The operator ilike.", "print(ilike('BANANA', 'nan'))", "true"),
    ("notLike", 2, 2, patterns.not_like, "(string, string) -> boolean", "B", "linear", "The operator not like.", "print(notLike('a', 'b'))", "true"),
    ("notILike", 2, 2, patterns.not_ilike, "(string, string) -> boolean", "B", "linear", "The operator not ilike.", "print(notILike('A', 'a'))", "false"),
    ("multiSearchAnyCaseInsensitive", 2, 2, strings.multi_search_any, "(string, array) -> number", "C", "linear", "1 if any of the strings is found, else 0.", "print(multiSearchAnyCaseInsensitive('Hello', ['x', 'LL']))", "1"),
    total=True,
)  # fmt: skip
_ENCODING = _rows(
    "Encoding",
    ("base64Encode", 1, 1, encoding.base64_encode, "(string) -> string", "A", "linear", "As base64.", "print(base64Encode('hög'))", "aMO2Zw=="),
    ("base64Decode", 1, 1, encoding.base64_decode, "(string) -> string", "A", "linear", "Decodes base64 of either alphabet, ignoring other characters.", "print(base64Decode('aMO2Zw=='))", "hög"),
    ("tryBase64Decode", 1, 1, encoding.try_base64_decode, "(string) -> string?", "A", "linear", "Decodes base64; null if the result is not text.", "print(tryBase64Decode('aMO2 Zw'))", "hög"),
    ("encodeURLComponent", 1, 1, encoding.encode_url, "(any) -> string", "A", "linear", "Encodes a string as part of a URL.", "print(encodeURLComponent('a b&c'))", "a%20b%26c"),
    ("decodeURLComponent", 1, 1, encoding.decode_url, "(any) -> string", "A", "linear", "From URL encoding.", "print(decodeURLComponent('a%20b'))", "a b"),
    ("tryDecodeURLComponent", 1, 1, encoding.try_decode_url, "(any) -> string?", "A", "linear", "Decodes URL encoding, null for invalid input.", "print(tryDecodeURLComponent('%'))", "null"),
    ("isIPAddressInRange", 2, 2, encoding.is_address_in_range, "(string, string) -> boolean", "B", "constant", "Whether an address is in a CIDR range.", "print(isIPAddressInRange('10.1.2.3', '10.0.0.0/8'))", "true"),
    ("md5", 1, 2, encoding.md5, "(string, string?) -> string", "A", "linear", "Digest in hex, base64, base64url or binary.", "print(md5('a'))", "0cc175b9c0f1b6a831c399e269772661"),
    ("sha1", 1, 2, encoding.sha1, "(string, string?) -> string", "A", "linear", "Digest in hex, base64, base64url or binary.", "print(sha1('a', 'base64'))", "hvfkN/qlp/zhXR3cuerq6jd2Z7g="),
    ("sha256", 1, 2, encoding.sha256, "(string, string?) -> string", "A", "linear", "Digest in hex, base64, base64url or binary.", "print(sha256('a', 'base64url'))", "ypeBEsobvcr6wjGzmiPcTaeG7_gUfE5yuYB3ha_uSLs"),
    ("md5Hex", 1, 1, encoding.md5_hex, "(string) -> string", "A", "linear", "Digest in hex.", "print(md5Hex('a'))", "0cc175b9c0f1b6a831c399e269772661"),
    ("sha1Hex", 1, 1, encoding.sha1_hex, "(string) -> string", "A", "linear", "Digest in hex.", "print(sha1Hex('a'))", "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"),
    ("sha256Hex", 1, 1, encoding.sha256_hex, "(string) -> string", "A", "linear", "Digest in hex.", "print(length(sha256Hex('a')))", "64"),
    ("sha256HmacChain", 1, 2, encoding.sha256_hmac_chain, "(array, string?) -> string", "A", "linear", "Chained HMAC: the first item is the key.", "print(sha256HmacChain(['key', 'a'], 'base64'))", "eAw9tM495bnlWBb7qY9ZBjHZbAdScbJpdiONX0REIZs="),
    ("sha1HmacChain", 1, 2, encoding.sha1_hmac_chain, "(array, string?) -> string", "A", "linear", "Chained HMAC: the first item is the key.", "print(length(sha1HmacChain(['key', 'a', 'b'])))", "40"),
    ("sha256HmacChainHex", 1, 1, encoding.sha256_hmac_chain_hex, "(array) -> string", "A", "linear", "Chained HMAC in hex.", "print(length(sha256HmacChainHex(['key', 'a'])))", "64"),
    ("sha1HmacChainHex", 1, 1, encoding.sha1_hmac_chain_hex, "(array) -> string", "A", "linear", "Chained HMAC in hex.", "print(length(sha1HmacChainHex(['key', 'a'])))", "40"),
) + _rows(
    "Encoding",
    ("generateUUIDv4", 0, 0, encoding.generate_uuid, "() -> string", "S", "constant", "A random UUID.", "print(length(generateUUIDv4()))", "36"),
    pure=False,
)  # fmt: skip
_JSON = _rows(
    "JSON",
    ("jsonParse", 1, 1, json_functions.json_parse, "(string) -> any", "A", "linear", "Parses JSON.", "print(jsonParse('{\"a\":[1]}'))", "{'a': [1]}"),
    ("jsonStringify", 1, 2, json_functions.json_stringify, "(any, number?) -> string", "S", "linear", "Writes JSON, indented by a number of spaces.", "print(jsonStringify({'a': [1]}))", '{"a":[1]}'),
) + _rows(
    "JSON",
    ("JSONHas", 1, None, json_functions.json_has, "(any, path...) -> boolean", "B", "linear", "Whether a path exists.", "print(JSONHas('{\"a\":[1]}', 'a', 1))", "true"),
    ("JSONLength", 1, None, json_functions.json_length, "(any, path...) -> number", "C", "linear", "Number of items at a path.", "print(JSONLength('[1,2]'))", "2"),
    ("JSONExtract", 2, None, json_functions.json_extract, "(any, path..., string) -> any", "A", "linear", "The value at a path; the last argument is ignored.", "print(JSONExtract('{\"a\":[1]}', 'a', 'Array'))", "[1]"),
    ("JSONExtractBool", 1, None, json_functions.json_extract_bool, "(any, path...) -> boolean", "B", "linear", "True only for a JSON true.", "print(JSONExtractBool('{\"a\":true}', 'a'))", "true"),
    ("JSONExtractInt", 1, None, json_functions.json_extract_int, "(any, path...) -> number?", "A", "linear", "The value as toInt.", "print(JSONExtractInt('[2.7]', 1))", "2"),
    ("JSONExtractFloat", 1, None, json_functions.json_extract_float, "(any, path...) -> number?", "A", "linear", "The value as toFloat.", "print(JSONExtractFloat('[\"1.5\"]', 1))", "1.5"),
    ("JSONExtractString", 1, None, json_functions.json_extract_string, "(any, path...) -> string?", "A", "linear", "The value as a string.", "print(JSONExtractString('{\"a\":{\"b\":1}}', 'a'))", '{"b":1}'),
    ("JSONExtractArrayRaw", 1, None, json_functions.json_extract_array_raw, "(any, path...) -> array?", "A", "linear", "The array at a path.", "print(JSONExtractArrayRaw('[[1]]', 1))", "[1]"),
    ("isValidJSON", 1, 1, json_functions.is_valid_json, "(string) -> boolean", "B", "linear", "Whether a string is JSON.", "print(isValidJSON('{'))", "false"),
)  # fmt: skip
_COLLECTIONS = _rows(
    "Arrays and objects",
    ("keys", 1, 1, parts.keys, "(object | array) -> array", "L", "linear", "Keys of an object; 0, 1, 2 for arrays.", "print(keys({'a': 1}), keys(['x']))", "['a'] [0]"),
    ("values", 1, 1, parts.values, "(object | array) -> array", "L", "linear", "Values of an object, items of an array.", "print(values({'a': 1}))", "[1]"),
    ("empty", 1, 1, parts.empty, "(any) -> boolean", "B", "constant", "Whether a value is null or empty.", "print(empty(''), empty(0))", "true false"),
    ("notEmpty", 1, 1, parts.not_empty, "(any) -> boolean", "B", "constant", "The opposite of empty.", "print(notEmpty([1]))", "true"),
    ("has", 2, 2, parts.has, "(array, any) -> boolean", "B", "linear", "Whether an array contains an item.", "print(has([1, 2], 2), has([1], '1'))", "true false"),
    ("indexOf", 2, 2, parts.find, "(array, any) -> number", "C", "linear", "Position of an item, from 1; 0 if not found.", "print(indexOf(['a', 'b'], 'b'))", "2"),
    ("arrayPushBack", 2, 2, parts.push_back, "(array, any) -> array", "L", "linear", "A copy with an item appended.", "print(arrayPushBack([1], 2))", "[1, 2]"),
    ("arrayPushFront", 2, 2, parts.push_front, "(array, any) -> array", "L", "linear", "A copy with an item prepended.", "print(arrayPushFront([1], 2))", "[2, 1]"),
    ("arrayPopBack", 1, 1, parts.pop_back, "(array) -> array", "L", "linear", "A copy without the last item.", "print(arrayPopBack([1, 2]))", "[1]"),
    ("arrayPopFront", 1, 1, parts.pop_front, "(array) -> array", "L", "linear", "A copy without the first item.", "print(arrayPopFront([1, 2]))", "[2]"),
    ("arraySort", 1, None, parts.sort, "(array, any...) -> array", "L", "sorting", "Sorts numbers by value, others as strings.", "print(arraySort([10, 9, 1]))", "[1, 9, 10]"),
    ("arrayReverseSort", 1, None, parts.reverse_sort, "(array, any...) -> array", "L", "sorting", "Sorts in descending order.", "print(arrayReverseSort([10, 9, 1]))", "[10, 9, 1]"),
    ("arrayReverse", 1, 1, parts.reverse, "(array) -> array", "L", "linear", "Backwards.", "print(arrayReverse([1, 2]))", "[2, 1]"),
    ("arrayStringConcat", 1, 2, parts.string_concat, "(array, string?) -> string", "S", "linear", "Joins the items with a separator.", "print(arrayStringConcat([1, null, 'a'], '-'))", "1--a"),
    ("range", 1, 2, parts.make_range, "(number, number?) -> array", "L", "linear", "Integers up to the last argument, exclusive.", "print(range(3), range(2, 4))", "[0, 1, 2] [2, 3]"),
    total=True,
) + _rows(
    "Arrays and objects",
    ("in", 2, 2, parts.is_in, "(any, array) -> boolean", "B", "linear", "Whether an array contains a value.", "print(`in`(1, [1]))", "true"),
    ("inCohort", 2, 2, parts.in_cohort, "(any, array) -> boolean", "B", "linear", "Whether a cohort is in a list of cohorts.", "print(inCohort(1, [1]))", "true"),
    ("notInCohort", 2, 2, parts.not_in_cohort, "(any, array) -> boolean", "B", "linear", "The opposite of inCohort.", "print(notInCohort(1, [1]))", "false"),
)  # fmt: skip
_CALLBACKS = [
    LibraryEntry("arrayMap", 2, 2, callbacks.array_map, "(function, array) -> array", "L", "linear", "The results of the function for each item.", "print(arrayMap(x -> x * 2, [1, 2]))", "[2, 4]", "Callbacks", "callback", callbacks.array_map_steps, pure=False),
    LibraryEntry("arrayFilter", 2, 2, callbacks.array_filter, "(function, array) -> array", "L", "linear", "The items for which the function is true.", "print(arrayFilter(x -> x > 1, [1, 2]))", "[2]", "Callbacks", "callback", callbacks.array_filter_steps, pure=False),
    LibraryEntry("arrayExists", 2, 2, callbacks.array_exists, "(function, array) -> boolean", "B", "linear", "Whether the function is true for any item.", "print(arrayExists(x -> x > 1, [1, 2]))", "true", "Callbacks", "callback", callbacks.array_exists_steps, pure=False),
    LibraryEntry("arrayCount", 2, 2, callbacks.array_count, "(function, array) -> number", "C", "linear", "The number of items for which the function is true.", "print(arrayCount(x -> x > 1, [1, 2, 3]))", "2", "Callbacks", "callback", callbacks.array_count_steps, pure=False),
    LibraryEntry("arrayReduce", 3, 3, callbacks.array_reduce, "(function, array, any) -> any", "A", "linear", "Folds the items into one value.", "print(arrayReduce((a, b) -> a + b, [1, 2], 10))", "13", "Callbacks", "callback", callbacks.array_reduce_steps, pure=False),
]  # fmt: skip
_LOGIC = _rows(
    "Logic and numbers",
    ("plus", 2, 2, types.plus, "(any, any) -> any", "A", "linear", "Adds numbers, concatenates strings.", "print(plus('a', 'b'), plus(1, 2))", "ab 3"),
    ("minus", 2, 2, types.minus, "(number, number) -> number", "K", "constant", "The difference.", "print(minus(3, 1))", "2"),
    ("min2", 2, 2, types.smaller, "(any, any) -> any", "A", "constant", "The smaller of two.", "print(min2(2, 1))", "1"),
    ("max2", 2, 2, types.larger, "(any, any) -> any", "A", "constant", "The larger of two.", "print(max2(2, 1))", "2"),
    ("floor", 1, 2, types.floor, "(number, any?) -> number", "K", "constant", "Rounds down to an integer.", "print(floor(-1.5))", "-2"),
    ("round", 1, 2, types.round_number, "(number, any?) -> number", "K", "constant", "Rounds to the nearest integer; halves up.", "print(round(2.5), round(-2.5))", "3 -2"),
    ("equals", 2, 2, types.equals, "(any, any) -> boolean", "B", "linear", "Equality without unification.", "print(equals(1, '1'))", "false"),
    ("notEquals", 2, 2, types.not_equals, "(any, any) -> boolean", "B", "linear", "The opposite of equals.", "print(notEquals(1, '1'))", "true"),
    ("greater", 2, 2, types.greater, "(any, any) -> boolean", "B", "linear", "Ordering without unification.", "print(greater(2, 1))", "true"),
    ("greaterOrEquals", 2, 2, types.greater_or_equals, "(any, any) -> boolean", "B", "linear", "Ordering without unification.", "print(greaterOrEquals(1, 1))", "true"),
    ("less", 2, 2, types.less, "(any, any) -> boolean", "B", "linear", "Ordering without unification.", "print(less(null, 1))", "false"),
    ("lessOrEquals", 2, 2, types.less_or_equals, "(any, any) -> boolean", "B", "linear", "Ordering without unification.", "print(lessOrEquals(1, 2))", "true"),
    ("not", 1, 1, types.logical_not, "(any) -> boolean", "B", "constant", "The operator not.", "print(not(0))", "true"),
    ("and", 1, None, types.logical_and, "(any...) -> boolean", "B", "constant", "The operator and.", "print(and(1, 2))", "true"),
    ("or", 1, None, types.logical_or, "(any...) -> boolean", "B", "constant", "The operator or.", "print(or(0, 2))", "true"),
    ("if", 3, 3, types.choose, "(any, any, any?) -> any", "A", "constant", "Lazy conditional; a missing else is null.", "print(if(true, 1, 2))", "1"),
    ("multiIf", 3, None, types.choose_many, "(any, any, ...) -> any", "A", "constant", "Lazy conditional with several branches.", "print(multiIf(false, 1, true, 2, 3))", "2"),
    total=True,
) + _rows(
    "Logic and numbers",
    ("randomFloat", 0, 0, types.random_float, "() -> number", "F", "constant", "A random number from 0 to 1, exclusive.", "print(randomFloat() < 1)", "true"),
    pure=False,
)  # fmt: skip
_D: Final = "toDateTime('2021-07-04 05:06:07.089')"
_DATES = _rows(
    "Dates",
    ("toDate", 1, 1, dates.to_date, "(string | number | date) -> date?", "A", "constant", "The UTC date; null for other strings.", "print(toDate('2024-05-03'))", "Date(2024, 5, 3)"),
    ("toDateTime", 1, 2, dates.to_date_time, "(string | number | date, string?) -> datetime?", "A", "constant", "The timestamp; null for other strings.", "print(toString(toDateTime('2024-05-03 12:34:56')))", "2024-05-03T12:34:56.000Z"),
    ("fromUnixTimestamp", 1, 1, dates.from_unix, "(number) -> datetime", "A", "constant", "From seconds.", "print(fromUnixTimestamp(0))", "DateTime(0.0, 'UTC')"),
    ("fromUnixTimestampMilli", 1, 1, dates.from_unix_milli, "(number) -> datetime", "A", "constant", "From milliseconds.", "print(fromUnixTimestampMilli(1500))", "DateTime(1.5, 'UTC')"),
    ("toUnixTimestamp", 1, 2, dates.to_unix, "(date | string, string?) -> number", "A", "constant", "Seconds since 1970.", f"print(toUnixTimestamp({_D}))", "1625375167.089"),
    ("toUnixTimestampMilli", 1, 2, dates.to_unix_milli, "(date | string, string?) -> number", "A", "constant", "Milliseconds since 1970.", f"print(toUnixTimestampMilli({_D}))", "1625375167089"),
    ("toTimeZone", 2, 2, dates.to_time_zone, "(datetime, string) -> datetime", "A", "constant", "The same timestamp in another time zone.", f"print(toString(toTimeZone({_D}, 'Europe/Berlin')))", "2021-07-04T07:06:07.089+02:00"),
    ("formatDateTime", 2, 3, date_format.format_date_time, "(datetime, string, string?) -> string", "A", "linear", "Formats with % letters.", f"print(formatDateTime({_D}, '%Y-%m-%d %H:%i:%S'))", "2021-07-04 05:06:07"),
    ("dateAdd", 3, 3, dates.date_add, "(string, number, date) -> date", "A", "constant", "Adds a number of units.", "print(dateAdd('month', 1, toDate('2024-01-31')))", "Date(2024, 2, 29)"),
    ("dateDiff", 3, 3, dates.date_diff, "(string, date, date) -> number", "A", "constant", "The number of units between two dates.", "print(dateDiff('day', toDate('2024-01-01'), toDate('2024-02-01')))", "31"),
    ("dateTrunc", 2, 3, dates.date_trunc, "(string, datetime, string?) -> datetime", "A", "constant", "The start of the unit.", f"print(toString(dateTrunc('hour', {_D})))", "2021-07-04T05:00:00.000Z"),
    ("addDays", 2, 2, dates.add_days, "(date, number) -> date", "A", "constant", "Adds a number of days.", "print(addDays(toDate('2024-02-28'), 2))", "Date(2024, 3, 1)"),
    ("extract", 2, 2, dates.extract, "(string, date) -> number", "A", "constant", "year, month, day, hour, minute or second.", f"print(extract('hour', {_D}))", "5"),
    ("toYear", 1, 1, dates.to_year, "(date) -> number", "A", "constant", "The year.", f"print(toYear({_D}))", "2021"),
    ("toMonth", 1, 1, dates.to_month, "(date) -> number", "A", "constant", "The month.", f"print(toMonth({_D}))", "7"),
    ("toYYYYMM", 1, 1, dates.to_year_month, "(date) -> number", "A", "constant", "Year and month as one number.", f"print(toYYYYMM({_D}))", "202107"),
    ("toStartOfDay", 1, 2, dates.to_start_of_day, "(date, any?) -> datetime", "A", "constant", "Midnight.", f"print(toString(toStartOfDay({_D})))", "2021-07-04T00:00:00.000Z"),
    ("toStartOfWeek", 1, 2, dates.to_start_of_week, "(date, any?) -> datetime", "A", "constant", "Monday, midnight.", f"print(toString(toStartOfWeek({_D})))", "2021-06-28T00:00:00.000Z"),
    ("toStartOfHour", 1, 1, dates.to_start_of_hour, "(date) -> datetime", "A", "constant", "The start of the hour.", f"print(toString(toStartOfHour({_D})))", "2021-07-04T05:00:00.000Z"),
    ("toStartOfMonth", 1, 1, dates.to_start_of_month, "(date) -> datetime", "A", "constant", "The start of the month.", f"print(toString(toStartOfMonth({_D})))", "2021-07-01T00:00:00.000Z"),
) + _rows(
    "Dates",
    ("toIntervalDay", 1, 1, dates.interval_day, "(number) -> interval", "D", "constant", "An interval.", "print(toIntervalDay(1).unit)", "day"),
    ("toIntervalHour", 1, 1, dates.interval_hour, "(number) -> interval", "D", "constant", "An interval.", "print(toIntervalHour(1).unit)", "hour"),
    ("toIntervalMinute", 1, 1, dates.interval_minute, "(number) -> interval", "D", "constant", "An interval.", "print(toIntervalMinute(1).unit)", "minute"),
    ("toIntervalMonth", 1, 1, dates.interval_month, "(number) -> interval", "D", "constant", "An interval.", "print(toIntervalMonth(1).value)", "1"),
    total=True,
) + _rows(
    "Dates",
    ("now", 0, 1, dates.now, "(any?) -> datetime", "A", "constant", "This instant.", "print(typeof(now()))", "datetime"),
    ("today", 0, 0, dates.today, "() -> date", "A", "constant", "The UTC day.", "print(typeof(today()))", "date"),
    pure=False,
)  # fmt: skip
_OTHER = [
    *_rows(
    "Errors and output",
    ("Error", 0, 2, types.make_error, "(any?, any?) -> error", "A", "constant", "An error with message and payload.", "print(Error('bad', 1))", "Error('bad', 1)"),
    ("RetryError", 0, 2, types.make_retry_error, "(any?, any?) -> error", "A", "constant", "An error that requests a retry.", "print(RetryError('later').type)", "RetryError"),
    ("NotImplementedError", 0, 2, types.make_not_implemented_error, "(any?, any?) -> error", "A", "constant", "An error.", "print(NotImplementedError().message)", "An error occurred"),
    ("HogError", 1, 3, types.make_hog_error, "(any, any?, any?) -> error", "A", "constant", "An error of any type.", "print(HogError('Own', 'bad'))", "Own('bad')"),
    total=True,
    pure=False,
),
    LibraryEntry("print", 0, None, types.print_line, "(any...) -> null", "N", "linear", "Prints a line.", "print('a', 1)", "a 1", "Errors and output", pure=False),
    LibraryEntry("sleep", 1, 1, None, "(number) -> null", "A", "constant", "Waits for a number of seconds; suspends the run.", "print(typeof(sleep))", "function", "Errors and output", "async", pure=False),
]  # fmt: skip

STL: Final[dict[str, LibraryEntry]] = {
    entry.name: entry
    for entry in [
        *_TYPES, *_NULL, *_STRINGS, *_ENCODING, *_JSON, *_COLLECTIONS,
        *_CALLBACKS, *_LOGIC, *_DATES, *_OTHER,
    ]
}  # fmt: skip
