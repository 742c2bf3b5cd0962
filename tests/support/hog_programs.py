"""Random Hog programs that mix value types, for comparing engines.

They avoid the deviations that docs/spec/hog-language.md#11-deviations-from-npm-1071 lists: ordering
with null, captured variables in loops, arrays with holes, returns inside ``try``.
"""

import random
from collections.abc import Callable

NUMBERS = ["-5", "-1", "0", "1", "3", "10", "0.5", "2.0", "1e10", "9007199254740991", "1073741824"]
LITERALS = [
    *NUMBERS, "'a'", "'ab'", "'1'", "'2.5'", "''", "'true'", "'é'", "'😀'", "true", "false", "null",
    "[1, 2]", "['a', 1]", "{'k': 1}", "(1, 2)",
]  # fmt: skip


class Programs:
    """Generates one program from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 (it has to be repeatable)
        self.count = 0
        self.functions: list[tuple[str, int]] = []
        self.names: list[str] = []

    def program(self, statements: int = 8) -> str:
        return "".join(self.statement(2, 0) for _ in range(statements))

    def _name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def _variable(self) -> str:
        return self.random.choice(self.names) if self.names else "1"

    # --- expressions

    def number(self, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.3:
            return self.random.choice([*NUMBERS, self._variable()])
        left, right = self.number(depth - 1), self.number(depth - 1)
        return self.random.choice(
            [f"({left} {self.random.choice('+-*/%')} {right})", f"(- {left})", f"floor({left})"]
        )

    def value(self, depth: int) -> str:
        if depth <= 0:
            return self.random.choice([*LITERALS, self._variable(), self._variable()])
        make = self.random.choice(self._SHAPES)
        return make(self, depth - 1)

    def _ordering(self, depth: int) -> str:
        operator = self.random.choice(["<", "<=", ">", ">="])
        return f"(({self.value(depth)} ?? 0) {operator} ({self.value(depth)} ?? 1))"

    def _equality(self, depth: int) -> str:
        return f"({self.value(depth)} {self.random.choice(['=', '!='])} {self.value(depth)})"

    def _logic(self, depth: int) -> str:
        word = self.random.choice(["and", "or"])
        return f"({self.value(depth)} {word} {self.value(depth)} {word} not {self.value(depth)})"

    def _choice(self, depth: int) -> str:
        return f"({self.value(depth)} ? {self.value(depth)} : {self.value(depth)})"

    def _fallback(self, depth: int) -> str:
        return f"({self.value(depth)} ?? {self.value(depth)})"

    def _text(self, depth: int) -> str:
        return f"f'{{{self.value(depth)}}}-{{{self.value(depth)}}}'"

    def _item(self, depth: int) -> str:
        index = self.random.choice("123")
        return f"[{self.value(depth)}, {self.value(depth)}][{index}]"

    def _object(self, depth: int) -> str:
        key = self.random.choice(["'b'", "1", "true", "null"])
        return f"{{'k': {self.value(depth)}, {key}: {self.value(depth)}}}"

    def _sum_with_effects(self, depth: int) -> str:
        """Operands with effects, so that the order of evaluation shows."""
        return f"(say({self.value(depth)}) + say({self.value(depth)}))"

    def _call(self, depth: int) -> str:
        if not self.functions:
            return f"typeof({self.value(depth)})"
        name, size = self.random.choice(self.functions)
        return f"{name}({', '.join(self.value(depth) for _ in range(size))})"

    def _shared(self, _depth: int) -> str:
        return self.random.choice(SHARED)

    def _change(self, depth: int) -> str:
        """Operands before and after a call that changes them, so that the time of a read shows."""
        operands = [self._shared(0), f"change({self.value(depth)})", self._shared(0)]
        self.random.shuffle(operands)
        first, second, third = operands
        return self.random.choice(
            [
                f"[{first}, {second}, {third}]",
                f"concat({first}, {second}, {third})",
                f"f'{{{first}}} {{{second}}} {{{third}}}'",
                f"{{'k': {first}, 'l': {second}, 'm': {third}}}",
                f"say([{first}, {second} = {third}])",
                f"(say({first}) ? {second} : {third})",
                f"(({first} + {second}) * {third})",
                f"arrayMap(x -> [x, {second}, {first}], [{third}])",
                f"(({first} ?? 0) between ({second} ?? 1) and ({third} ?? 2))",
                f"{{'a': {first}, 'b': {second}}}[say('b')] = {third}",
            ]
        )

    _SHAPES: tuple[Callable[["Programs", int], str], ...] = (
        number, number, number, _ordering, _equality, _equality, _logic, _choice, _fallback,
        _text, _item, _object, _sum_with_effects, _call,
        lambda self, _: f"{self._variable()}.k",
        _change, _shared,
        lambda self, depth: f"({self.value(depth)} in [1, 2, null, true])",
        lambda self, depth: f"arrayMap(x -> [x, x + 1], [{self.value(depth)}])",
        lambda self, depth: f"length(toString({self.value(depth)}))",
    )  # fmt: skip

    # --- statements

    def statement(self, depth: int, level: int) -> str:  # noqa: PLR0911 (one a kind)
        pad = "  " * level
        kind = self.random.randint(0, 9)
        if kind < 3 or not self.names:
            text = self.value(depth)
            self.names.append(self._name("v"))
            return f"{pad}let {self.names[-1]} := {text}\n"
        if kind < 5:
            return f"{pad}{self._variable()} := {self.value(depth)}\n"
        if kind == 5:
            then, otherwise = self._block(depth, level), self._block(depth, level)
            return f"{pad}if ({self.value(depth)}) {{\n{then}{pad}}} else {{\n{otherwise}{pad}}}\n"
        if kind == 6 and level < 3:
            return self._loop(depth, level, pad)
        if kind == 7 and level == 0:
            return self._function(depth)
        if kind == 8 and self.random.random() < 0.5:
            target = self.random.choice(["shared.n", "shared.items[1]", "last", "shared.k"])
            return f"{pad}{target} := {self._change(1)}\n{pad}print(shared, last)\n"
        if kind == 8:
            name, body = self._name("e"), self._block(depth, level)
            thrown = f"{pad}  if ({self.value(1)}) {{ throw HogError('T', 'm') }}\n"
            caught = f"{pad}}} catch ({name}) {{\n{pad}  print({name}.type)\n{pad}}}\n"
            return f"{pad}try {{\n{body}{thrown}{caught}"
        return f"{pad}print({self.value(depth)})\n"

    def _block(self, depth: int, level: int) -> str:
        names = list(self.names)
        text = "".join(self.statement(depth - 1, level + 1) for _ in range(2))
        self.names = names
        return text

    def _loop(self, depth: int, level: int, pad: str) -> str:
        name = self._name("i")
        first, end = self.random.randint(0, 2), self.random.randint(2, 4)
        head = f"for (let {name} := {first}; {name} < {end}; {name} := {name} + 1)"
        body = self._block(depth, level)
        return f"{pad}{head} {{\n{pad}  print({name} + {first})\n{body}{pad}}}\n"

    def _function(self, depth: int) -> str:
        name, names, functions = self._name("f"), list(self.names), list(self.functions)
        parameters = [self._name("p") for _ in range(self.random.randint(0, 2))]
        self.names = [*names, *parameters]
        body = "".join(self.statement(depth - 1, 1) for _ in range(2))
        result = self.value(depth)
        self.names, self.functions = names, [*functions, (name, len(parameters))]
        return f"fun {name}({', '.join(parameters)}) {{\n{body}  return {result}\n}}\n"


SAY = """fun say(x) { print('say', x); return x }
let shared := {'n': 0, 'items': [0, 0]}
let last := 0
fun change(x) {
  shared.n := shared.n + 1
  shared.items[1] := x
  if (shared.n % 3 = 0) { shared := {'n': shared.n, 'items': [x, 0]} }
  last := x
  return shared.n
}
"""
SHARED = ["shared", "shared.n", "shared.items", "shared.items[1]", "last", "[shared.items, last]"]
"""Values that ``change`` changes."""


def random_program(seed: int) -> str:
    """The program of a seed; always the same one."""
    return SAY + Programs(seed).program()
