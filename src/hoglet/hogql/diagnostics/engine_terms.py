"""Translates the engine's terms to HogQL's: types and functions, without internals.

Example:
    >>> plain("Illegal type Nullable(DateTime64(6, 'UTC')) of argument of function toInt64.")
    'Illegal type DateTime of argument of function toInt64.'
"""

import re

_TYPES = (
    (re.compile(r"DB::Column(\w+?)(?:<[^>]*>)?\b"), r"\1"),
    (re.compile(r"\bDateTime64\([^()]*\)|\bDateTime\('[^']*'\)|\bDateTime(?:64|32)\b"), "DateTime"),
    (re.compile(r"\bDate32\b"), "Date"),
    (re.compile(r"\b(Date|DateTime)\[\d+\]"), r"\1"),
    (re.compile(r"\(U\)Int(?:\*|\d+|8/16/32/64)?|\bU?Int(?:8|16|32|64|128|256)\b"), "Integer"),
    (re.compile(r"\b(?:native )?(?:B?Float(?:16|32|64)|Float\*)"), "Float"),
    (re.compile(r"\bDecimal(?:\d+)?\([^()]*\)|\bDecimal(?:32|64|128|256)\b"), "Decimal"),
    (re.compile(r"\bFixedString\([^()]*\)|\bFixedString\b|\bEnum(?:8|16)?\([^()]*\)"), "String"),
    (re.compile(r"\bBool\b"), "Boolean"),
    (re.compile(r"\bunsigned long\b|\bdouble\b"), "number"),
    (re.compile(r"\bFunction\([^)]*\)(?: -> \S+?\))?"), "a lambda"),
    (re.compile(r"\bAggregateFunction\([^()]*\)"), "state of an aggregate"),
)
_WRAPPED = re.compile(r"\b(?:Nullable|LowCardinality|SimpleAggregateFunction)\(([^()]*)\)")
_TWICE = re.compile(r"\b(\w+)(?:(?: or|,) \1)+\b")
_ARRAY = re.compile(r"\bArray\(([^()]*)\)")
_LISTED = re.compile(r"\b(?:Tuple|Map|Nested)\([^()]*\)")

_TAIL = re.compile(
    r"(?::\s*)?(?:[Ww]hile executing\b|In scope\b|in query\b|In query\b|while converting\b|"
    r"Note: there are\b|Look at https?:|Please note that\b|Set `\w+ =|Maybe you meant:|"
    r"when trying to\b|because some of them\b|controlled by setting\b|"
    r"You can (?:use|set|disable|enable)\b|If the condition is missing\b|"
    r"To (?:disable|enable) this\b|: Cannot parse \w+).*",
    re.DOTALL,
)
_NAMES = (
    (re.compile(r"\b__table\d+\."), ""),
    (re.compile(r"'([^']*)'_String"), r"'\1'"),
    (re.compile(r"\b(\w+)_(?:String|UInt\d+|Int\d+|Float\d+)\b"), r"\1"),
    (re.compile(r"\s*\(maximum:[^)]*\)"), ""),
)
_INTERNAL = re.compile(
    r"__\w|\b_CAST\b|\bCAST\(|DB::|\bproject_id\b|properties_json|property_text_|_OrNull\(|assumeNotNull\(|"
    r"\bparseDateTime64BestEffort|accurateCast|\bifNull\(|\bhoglet_|\bsize = |"
    r"\{\w+:\w+\}|_setting\b|\bsettings?\b `|\bv\d+\b|\bMethod \w|Nullable|LowCardinality|"
    r"\b[A-Z]\w*Column\b|\bColumn[A-Z]\w*|(?:Int|Float|DateTime)\d|\bException\b|\bBad cast\b"
)


def plain(message: str) -> str:
    """The message without the engine's internals."""
    text = _TAIL.sub("", message).rstrip(" :;,(")
    for pattern, words in _NAMES:
        text = pattern.sub(words, text)
    text = types_of_hogql(text)
    return f"{text.rstrip('.')}."


def types_of_hogql(text: str) -> str:
    """A message with the engine's type names replaced by those of HogQL columns."""
    for pattern, words in _TYPES:
        text = pattern.sub(words, text)
    before = ""
    while before != text:
        before = text
        text = _WRAPPED.sub(r"\1", text)
        text = _ARRAY.sub(r"list of \1", text)
        text = _LISTED.sub("tuple", text)
    return _TWICE.sub(r"\1", text)


def shows_inside(text: str) -> bool:
    """Whether a message still contains parts of the printed query."""
    return _INTERNAL.search(text) is not None


def with_article(type_: str) -> str:
    """``a String``, ``an Integer``."""
    if type_.lower().startswith(("a ", "an ", "const ")):
        return type_[:1].lower() + type_[1:]
    return f"{'an' if type_[:1] in 'AEIO' else 'a'} {type_}"
