"""Random programs whose functions write to what they are given and return it."""

import random
from typing import Final

_GLOBALS: Final = ["event", "event", "event.properties", "event.properties.a", "person"]
_PARTS: Final = ["", "", ".a", ".properties", ".properties.a", ".b"]
_SCALARS: Final = ["1", "4 / 2", "'s'", "null", "upper(toString({}))", "length({})", "({}) = 1"]
_OTHERS: Final = ["{}", "{}", "{{'k': 1}}", "{{'k': {}}}", "[{}]", "out", "{} ?? {{}}"]


class ReturningPrograms:
    """Random programs that are small enough to borrow what their functions return."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 (no secrets)
        self.names = list[str]()
        self.functions = list[str]()
        self.scalars = self.random.random()

    def source(self) -> str:
        pick = self.random
        lines = ["let out := {}", "let list := []"]
        lines += [self.function() for _ in range(pick.randint(1, 2))]
        if pick.random() < 3 / 4:
            lines.append(f"let e := {pick.choice(_GLOBALS)}")
            self.names.append("e")
        lines += [self.statement() for _ in range(pick.randint(1, 4))]
        form = pick.choice(["{}", "{}", "{{'r': {}}}", "[{}, out]", "{{'l': list, 'r': {}}}"])
        return "\n".join([*lines, f"return {form.format(self.whole())}"])

    def function(self) -> str:
        """A function that changes its parameter, or a copy of a global, and returns it."""
        pick, outer = self.random, self.names
        own = f"let p := {pick.choice(_GLOBALS)}; " if pick.random() < 1 / 8 else ""
        self.names = ["p"]
        lines = [self.write() for _ in range(pick.randint(1, 3))]
        end = pick.choice(["", "", "", "if (p.b = null) { return null } ", "list := [p.a]; "])
        parameter, name, self.names = "" if own else "p", f"f{len(self.functions)}", outer
        self.functions.append(f"{name}()" if own else f"{name}({{}})")
        return f"fun {name}({parameter}) {{ {own}{' '.join(lines)} {end}return p }}"

    def read(self) -> str:
        pick = self.random
        return pick.choice([*self.names * 2, pick.choice(_GLOBALS)]) + pick.choice(_PARTS)

    def whole(self) -> str:
        """A variable, or the result of a function."""
        pick = self.random
        given = pick.choice([pick.choice(_GLOBALS), self.read()])
        return pick.choice([*self.functions, *self.names]).format(given)

    def value(self) -> str:
        pick = self.random
        if pick.random() < self.scalars:
            return pick.choice(_SCALARS).format(self.read())
        if self.functions and pick.random() < 1 / 2:
            return self.whole()
        return pick.choice(_OTHERS).format(self.read())

    def write(self) -> str:
        """A write to a part of an object, if it is one."""
        pick = self.random
        holder = pick.choice(self.names) + pick.choice(_PARTS)
        return f"if (keys({holder}) != []) {{ {holder}.{pick.choice('xab')} := {self.value()} }}"

    def statement(self) -> str:
        pick = self.random
        match pick.randint(0, 9):
            case 0 | 1 | 2 if self.names:
                return self.write()
            case 3 | 4 if self.names:
                path = pick.choice(self.names) + pick.choice([".a", ".properties"])
                call = pick.choice(self.functions).format(path)
                return f"if ({path} != null) {{ {path} := {call} }}"
            case 5:
                return f"list := arrayPushBack(list, {self.whole()})"
            case 6:
                return pick.choice(self.functions).format(self.read())
            case 7:
                return f"print({self.read()}, {self.whole()})"
            case _:
                self.names.append(f"v{len(self.names)}")
                return f"let {self.names[-1]} := {self.whole().replace(self.names[-1], 'event')}"
