"""Random programs that read, store and change parts of an event and compare them."""

import random

PATHS = ["event", "event.properties", "event.properties.a", "event.list", "event.list[1]", "person"]
PARTS = [".properties", ".a", ".x", ".y", ".list", "[1]", "[2]", ".b", "['t']", "[key]"]


class ReadingPrograms:
    """Random programs that bind, look at, store and change parts of globals."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 (no secrets)
        self.kinds = self.random.sample(range(3, 8), k=self.random.randint(1, 5))
        self.names = list[str]()

    def source(self) -> str:
        pick = self.random
        lines = ["fun same(a, b) { return a == b }", "fun keep(a) { return a }"]
        lines += ["fun part(a, key) { return a[key] }", "let key := 'a'", "let out := {'a': {}}"]
        lines += [self.statement() for _ in range(pick.randint(3, 12))]
        lines += [f"print(jsonStringify({name}))" for name in [*self.names, "out"]]
        return "\n".join(lines)

    def read(self) -> str:
        pick = self.random
        root = pick.choice([*self.names, *self.names, pick.choice(PATHS), "out", "out.a"])
        return root + "".join(pick.choices(PARTS, k=pick.choice([0, 0, 1, 1, 2])))

    def value(self) -> str:
        read = self.read()
        forms = [
            "{}", "{}", "{}", "[{}]", "{{'x': {}}}", "ifNull({}, 1)", "keep({})", "part({}, 'x')",
            "arrayFilter(i -> i.x > 1, {})", "arrayMap(i -> i.y, {})", "values({})", "keys({})",
            "(() -> {})()", "arrayPushBack({}, 1)", "jsonParse(jsonStringify({}))",
            "{} ?? []", "({} ?? {{}})", "arrayFilter(i -> i != null, {} ?? [])",
        ]  # fmt: skip
        return self.random.choice(forms).format(read)

    def statement(self) -> str:
        pick = self.random
        match pick.choice([0, 1, 2, *self.kinds]):
            case 0 | 1 | 2:
                value = self.value()
                self.names.append(f"v{len(self.names)}")
                return f"let {self.names[-1]} := {value}"
            case 3 if self.names:
                return (
                    f"if (typeof({(t := self.target())}) = 'object') {{ {t}.x := {self.value()} }}"
                )
            case 4:
                target = pick.choice(["out.k", "out.a.k", "out.a", "out[key]", "event.list[3]"])
                return f"{target} := {self.value()}"
            case 5:
                body = pick.choice(["out[k] := v", "print(k, typeof(v))", "v := 1", "out.q := [v]"])
                items = pick.choice(["{}", "{} ?? []", "arrayFilter(i -> i.x != 2, {})"])
                return f"for (let k, v in {items.format(self.read())}) {{ {body} }}"
            case 6:
                return f"print(same({self.read()}, {self.read()}), {self.read()} == {self.read()})"
            case _:
                return f"print(jsonStringify({self.value()}), typeof({self.read()}))"

    def scalar(self) -> str:
        forms = ["1", "'s'", "null", "lower(toString({}))", "length({})", "typeof({})", "{} == 1"]
        return self.random.choice(forms).format(self.read())

    def target(self) -> str:
        return self.random.choice(self.names) + self.random.choice(["", ".a", ".properties", "[1]"])
