"""Random programs that write to copies of an event and return them, and random events."""

import random
import re
from typing import Any, Final

_SOURCES: Final = ["event", "event", "event", "event.properties", "person", "event.properties.o"]
_PLACES: Final = ["", ".properties", ".properties", ".properties.o", ".o", ".properties.l"]
_FIELDS: Final = [
    ".a", ".b", ".o", ".l", ".new", "['a b']", "[1]", "[2]", "[key]", "[key]", "[half]", ".`é`",
    "['__hogDate__']", "[concat('__hog', 'Date__')]", "[null]", "[1.5]", "[true]", ".year",
    "[length(event.properties.l) + 1]",
]  # fmt: skip
_VALUES: Final = [
    "1", "2.0", "2.5", "-0.0", "'x'", "'é'", "null", "true", "9007199254740993", "1e22", "half",
    "4 / 2", "{} * 1.0", "{} + 1", "round({})", "0 / 0", "1 / 0", "toFloat('3')", "toInt({})",
    "lower(toString({}))", "concat({}, 'é')", "substring({}, 1, 1)", "length({})", "{} = 1",
    "toDate('2024-01-01')", "toDateTime('2024-01-01')", "tuple(1, 2.0)", "[1, 2.0]", "[]",
    "{{'a': 2.0}}", "{{}}", "{{'__hogDate__': true, 'year': 1, 'month': 1, 'day': 1}}", "x -> x",
    "jsonParse('[2.0, {{\"a\": 3.0}}]')", "splitByString('a', {})", "keys({})", "out", "Error('x')",
    "{}", "{}", "{}", "{}", "{} ?? 2.0", "{} ?? {{'t': 'é'}}", "typeof({})", "change({})", "e",
    "arrayPushBack({} ?? [], 2.0)", "range(2)", "same({})", "table", "if({} = 1, 2.0, 'a')",
]  # fmt: skip
_RESULTS: Final = [
    "e", "e", "e", "e", "e", "{}", "event", "e.properties", "out", "{} ?? {{'t': half}}", "table",
    "change({})", "same(e)", "arrayFilter(i -> i != 1, {} ?? [])", "current", "{{'e': e}}",
]  # fmt: skip
_LEAVES: Final = [
    1, 0, -3, 2.5, 1e-7, 12.25, "text", "", "é", "😀", True, False, None,
]  # fmt: skip
_ODD: Final = [
    2.0, -0.0, 1e22, 2**53, 2**53 + 1, -(2**60), 2**70, float("nan"), float("inf"), "\ud83d",
    (1, 2.0), {"__hogDate__": True, "year": 2024, "month": 5, "day": 3}, {1: 2}, {"__hogX": 1},
    {"__hogDateTime__": True, "dt": 1.0, "zone": "UTC"}, {"\udc00": 1}, "__hog", "2.0,",
]  # fmt: skip


class SettledPrograms:
    """Random programs of a few writes; each has few kinds of values, so that some stay settled."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 (no secrets)
        self.is_loop = self.random.random() < 1 / 6
        self.values = self.random.sample(_VALUES, k=self.random.randint(1, 6))
        self.results = self.random.sample(_RESULTS, k=2)

    def source(self) -> str:
        pick = self.random
        lines = [f"let e := {pick.choice(_SOURCES)}"]
        lines += [self.statement() for _ in range(pick.randint(0, 4))]
        lines.append(f"return {pick.choice(self.results).format(self.read())}")
        if re.search(r"\bo\b", "\n".join(lines)):
            lines.insert(1, f"let o := e{pick.choice(_PLACES)}")
        before = {
            "change": f"fun change(p) {{ {self.write('p')}; return p }}",
            "same": "fun same(p) { if (p.a = 1) { return "
            + pick.choice(["2.0", "'é'", "p", "null"])
            + " } return p }",
            "half": "let half := substring('😀', 1, 1)",
            "key": "let key := " + pick.choice(["'k'", "event.k"]),
            "out": "let out := {'c': " + pick.choice(["2.0", "1", "'a'"]) + "}",
            "current": "let current := event",
            "table": "let table := {'a': [1, 'b', " + pick.choice(["1", "2.0", "'é'"]) + "]}",
        }
        for name, line in before.items():
            lines = [line, *lines] if name in "\n".join(lines) else lines
        return "\n".join(lines)

    def read(self) -> str:
        pick = self.random
        root = pick.choice(["event", "event.properties", "e", "e.properties", "person"])
        return root + pick.choice(["", *_FIELDS])

    def value(self) -> str:
        return self.random.choice(self.values).format(self.read())

    def write(self, holder: str) -> str:
        pick = self.random
        holder += pick.choice(_PLACES)
        write = f"{holder}{pick.choice(_FIELDS)} := {self.value()}"
        return f"if ({holder} and typeof({holder}) = 'object') {{ {write} }}"

    def statement(self) -> str:
        pick = self.random
        match pick.randint(0, 11):
            case 0:
                return f"try {{ {self.write('e')} }} catch (x) {{ print(x.message) }}"
            case 1 if self.is_loop:
                body = pick.choice(["out[k] := v", self.write("e"), "out.x := v"])
                return f"for (let k, v in {self.read()}) {{ {body} }}"
            case 2:
                part = pick.choice([".properties", ".properties", *_PLACES[2:]])
                path = pick.choice(["event", "event", "e", "person", "event.properties"]) + part
                return f"e{part} := {pick.choice(['out', 'change({})', 'same({})']).format(path)}"
            case 3:
                return f"current := current[{pick.choice(['key', repr('properties')])}]"
            case 4:
                return f"if ({self.read()} != null) {{ {self.write('e')} }}"
            case _:
                return self.write(pick.choice(["o", "out", "e", "e", "e", "e", "e"]))


def random_globals(seed: int) -> dict[str, Any]:
    """Globals with an event, half of them with a value that programs return in another form."""
    pick = random.Random(seed)  # noqa: S311 (no secrets)
    odd = [*_LEAVES, *_ODD] if pick.random() < 1 / 2 else _LEAVES

    def value(depth: int) -> Any:
        if depth and pick.random() < 1 / 3:
            keys = pick.sample(["a", "b", "o", "l", "k", "é", "a b"], k=pick.randint(0, 4))
            parts = [value(depth - 1) for _ in range(4)]
            return parts if pick.random() < 1 / 3 else dict(zip(keys, parts, strict=False))
        return pick.choice(odd if pick.random() < 1 / 3 else _LEAVES)

    properties = {name: value(2) for name in ("a", "b", "k", "n")}
    properties |= {"o": {"a": value(1), "l": [value(1)]}, "l": [value(1) for _ in range(3)]}
    if pick.random() < 1 / 50:
        for _ in range(pick.choice([150, 190, 199, 220, 260])):
            properties["o"] = {"o": properties["o"]}
    event = {"event": "e", "k": pick.choice(["a", "properties", 1]), "properties": properties}
    return {"event": event, "person": {"properties": {"o": value(2)}, "a": value(0)}}
