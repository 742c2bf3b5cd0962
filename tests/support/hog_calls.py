"""Generated library calls with arguments of the declared types."""

from collections.abc import Callable

from hypothesis import strategies as st

_TEXTS = [
    "", "a", "abc", "aXbXc", "  pad  ", "Zoë", "😀b", "10", "42 km", "1e3", "-7.5", "true",
    "x=1&y=2", "it's", "line\\nbreak", "banana", "BANANA", "1.2.3", "v10.0.1-beta", "192.168.1.5",
    "a,b,,c",
]  # fmt: skip
_PLAIN = ["a", "X", "b", "an", ",", "B", " "]
_NUMBERS = [0, 1, 2, 3, 5, -1, -2.5, 2.5, 0.5, 1.5, 3.99, 100, 1714739696]
_DATES = [
    "2024-01-31", "2024-02-29", "2023-12-31", "2021-07-04", "1999-01-01", "2024-12-30",
    "1970-01-01",
]  # fmt: skip
_TIMES = ["", "T00:00:00Z", " 12:34:56", "T23:59:59.999Z", "T05:06:07.089+02:00", "T10:00:00-0530"]
_ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]
_JSON = [
    '{"a": {"b": [1, 2.7, "x", null, true]}, "n": "12", "f": 1.5}', "[1, [2, 3]]", '"text"', "5",
    "{}",
]  # fmt: skip
_FORMATS = "aWbMcmdejCgyGYVDFuHkhIlpisSfRTrznt%"
_UNITS = ["second", "minute", "hour", "day", "week", "month", "year"]
_TRUNCATIONS = ["year", "month", "day", "hour", "minute"]


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "\\'") + "'"


text = st.sampled_from(_TEXTS).map(_quoted)
plain = st.sampled_from(_PLAIN).map(_quoted)
number = st.sampled_from(_NUMBERS).map(str)
small = st.integers(-3, 5).map(str)
flag = st.sampled_from(["true", "false"])
scalar = text | number | flag
numbers = st.lists(st.integers(0, 9).map(str), max_size=4).map(lambda v: f"[{', '.join(v)}]")
texts = st.lists(text, max_size=4).map(lambda v: f"[{', '.join(v)}]")
array = numbers | texts
record = st.lists(st.tuples(plain, scalar), max_size=3, unique_by=lambda pair: pair[0]).map(
    lambda pairs: "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
)
anything = scalar | array | record
zone = st.sampled_from(_ZONES).map(_quoted)
date_text = st.tuples(st.sampled_from(_DATES), st.sampled_from(_TIMES)).map("".join).map(_quoted)
date = st.sampled_from(_DATES).map(lambda day: f"toDate('{day}')")
moment = date_text.map(lambda value: f"toDateTime({value})") | st.tuples(date_text, zone).map(
    lambda pair: f"toTimeZone(toDateTime({pair[0]}), {pair[1]})"
)
time = date | moment
json_text = st.sampled_from(_JSON).map(_quoted)
path = st.sampled_from(
    ["'a'", "'n'", "'f'", "'a', 'b'", "'a', 'b', 1", "'a', 'b', -1", "'x'", "1", "2, 1"]
)
# The machine finds any index in an object, and counts long spans in calendar steps.
key_path = st.sampled_from(["'a'", "'n'", "'a', 'b', 1", "'a', 'b', -9", "'x'"])
calendar_unit = st.sampled_from(["'month'", "'year'"])
unit = st.sampled_from(_UNITS).map(_quoted)
truncation = st.sampled_from(_TRUNCATIONS).map(_quoted)
date_format = st.lists(st.sampled_from(_FORMATS), min_size=1, max_size=4).map(
    lambda formats: _quoted(" ".join(f"%{format_}" for format_ in formats))
)
digest = st.sampled_from(["'hex'", "'base64'", "'base64url'", "'binary'"])
pattern = st.sampled_from(["'a'", "'^[a-z]+'", "'([0-9]+)'", "'(a)(n)'", "'b|c'", "'\\\\s'"])
like = st.sampled_from(["'a%'", "'%an%'", "'_b'", "'B_'", "'%'", "'a.c'"])

CALLS: dict[str, tuple[st.SearchStrategy[str], ...]] = {
    "toString": (anything | time,),
    "toInt": (scalar | time,),
    "toFloat": (scalar,),
    "typeof": (anything | time,),
    "length": (text | array,),
    "lower": (text,),
    "upper": (text,),
    "reverse": (text,),
    "concat": (anything, anything),
    "trim": (text, plain),
    "trimLeft": (text,),
    "trimRight": (text,),
    "splitByString": (plain, text),
    "replaceOne": (text, plain, plain),
    "replaceAll": (text, plain, plain),
    "position": (text, plain),
    "positionCaseInsensitive": (text, plain),
    "substring": (text, small, small),
    "startsWith": (text, plain),
    "like": (text, like),
    "ilike": (text, like),
    "notLike": (text, like),
    "notILike": (text, like),
    "match": (text, pattern),
    "extractRegex": (text, pattern),
    "base64Encode": (text,),
    "encodeURLComponent": (text,),
    "md5": (text, digest),
    "sha1": (text, digest),
    "sha256": (text, digest),
    "sha256HmacChain": (st.lists(text, min_size=2, max_size=3).map(lambda v: f"[{', '.join(v)}]"),),
    "jsonStringify": (anything | time,),
    "jsonParse": (json_text,),
    "JSONHas": (json_text, key_path),
    "JSONExtractBool": (json_text, path),
    "isValidJSON": (json_text | text,),
    "keys": (array | record,),
    "values": (array | record,),
    "empty": (anything,),
    "notEmpty": (anything,),
    "has": (array, scalar),
    "in": (scalar, array),
    "indexOf": (array, scalar),
    "arrayPushBack": (array, scalar),
    "arrayPushFront": (array, scalar),
    "arrayPopBack": (array,),
    "arrayPopFront": (array,),
    "arraySort": (texts,),
    "arrayReverse": (array,),
    "arrayStringConcat": (array, plain),
    "range": (small,),
    "floor": (number,),
    "round": (number,),
    "plus": (number, number),
    "minus": (number, number),
    "min2": (number, number),
    "equals": (scalar, scalar),
    "notEquals": (scalar, scalar),
    "toDate": (date_text,),
    "toDateTime": (date_text, zone),
    "fromUnixTimestamp": (number,),
    "fromUnixTimestampMilli": (number,),
    "toUnixTimestamp": (time,),
    "toUnixTimestampMilli": (time,),
    "toTimeZone": (moment, zone),
    "formatDateTime": (moment, date_format),
    "dateAdd": (unit, small, time),
    "dateDiff": (calendar_unit, moment, moment),
    "dateTrunc": (truncation, moment),
    "addDays": (time, small),
    "toYear": (time,),
    "toMonth": (time,),
    "toYYYYMM": (time,),
    "toStartOfDay": (moment,),
    "toStartOfHour": (moment,),
    "toStartOfMonth": (moment,),
    "toStartOfWeek": (moment,),
    "isIPAddressInRange": (text, st.just("'192.168.0.0/16'")),
    "sortableSemver": (text,),
    "coalesce": (scalar, scalar),
}


def _call(name: str) -> st.SearchStrategy[str]:
    join: Callable[[tuple[str, ...]], str] = ", ".join
    return st.tuples(*CALLS[name]).map(lambda arguments: f"print({name}({join(arguments)}))")


calls = st.sampled_from(sorted(CALLS)).flatmap(_call)
