"""Generated well-typed Hog programs for differential tests.

They avoid the deviations of docs/spec/hog-language.md#11-deviations-from-npm-1071: no null in an
ordering, no capture of a variable whose scope ends before the program, no library function with an
argument of a wrong type. With ``mixed``, operands of arithmetic, comparison and text have any
scalar type and print when they are evaluated. Without it, the generated JavaScript must agree too:
its operators and order of evaluation are those of JavaScript.
"""

from hypothesis import strategies as st

_NAMES = ["a", "b", "c", "d", "e2", "f1"]
_TEXTS = ["", "x", "abc", "Zoë", "10", "9", "a b", "it's", "true", "1.5", "-3"]
_NUMBERS = [0, 1, 2, 3, 7, -1, -4, 10, 0.5, 2.5, -0.25, 100000, 9007199254740991]
_KINDS = ["number", "text", "boolean", "list", "record"]
_DEPTH = 3
_SAY = "fun say(x) { print('say', x); return x } fun effect() { print('effect') }"


class _Maker:
    """Draws one program; tracks variables by kind, innermost scope last."""

    def __init__(self, draw: st.DrawFn, *, mixed: bool) -> None:
        self._draw = draw
        self._mixed = mixed
        self._scopes: list[dict[str, str]] = [{}]
        self._functions: list[str] = []
        self._in_function = False
        self._count = 0

    def program(self) -> str:
        lines = self.statements(self._draw(st.integers(2, 8)), 0)
        names = ", ".join(self._scopes[0]) or "1"
        start = [_SAY] if self._mixed else []
        return "\n".join([*start, *lines, f"print({names})"]) + "\n"

    def pick(self, choices: list) -> object:
        return self._draw(st.sampled_from(choices))

    def statements(self, count: int, depth: int) -> list[str]:
        return [self.statement(depth) for _ in range(count)]

    def block(self, depth: int) -> str:
        self._scopes.append({})
        inner = " ".join(self.statements(self._draw(st.integers(1, 3)), depth + 1))
        self._scopes.pop()
        return "{ " + inner + " }"

    def statement(self, depth: int) -> str:
        simple = [self.let, self.show, self.assign, self.put]
        compound = [self.branch, self.repeat, self.count_up, self.each, self.attempt]
        top = [self.function, self.closure, self.recursion]
        choices = simple * 2 + (compound if depth < _DEPTH else []) + (top if depth == 0 else [])
        return self.pick(choices)(depth)  # type: ignore[operator]

    def fresh(self, kind: str) -> str:
        self._count += 1
        name = f"{self.pick(_NAMES)}{self._count}"
        self._scopes[-1][name] = kind
        return name

    def variables(self, kind: str) -> list[str]:
        return [name for scope in self._scopes for name, known in scope.items() if known == kind]

    def let(self, _: int) -> str:
        kind = str(self.pick(_KINDS))
        value = self.value(kind, 0)
        return f"let {self.fresh(kind)} := {value};"

    def show(self, _: int) -> str:
        values = [
            self.value(str(self.pick(_KINDS)), 0) for _ in range(self._draw(st.integers(1, 2)))
        ]
        return f"print({', '.join(values)});"

    def assign(self, depth: int) -> str:
        kind = str(self.pick(_KINDS))
        names = self.variables(kind)
        return f"{self.pick(names)} := {self.value(kind, 0)};" if names else self.show(depth)

    def put(self, depth: int) -> str:
        records = self.variables("record")
        if records and self._draw(st.booleans()):
            key, kind = self.pick([("k", "number"), ("m", "text")])  # type: ignore[misc]
            return f"{self.pick(records)}.{key} := {self.value(kind, 1)};"
        names = self.variables("list")
        if not names:
            return self.let(depth)
        return f"{self.pick(names)}[1] := {self.value('number', 1)};"

    def branch(self, depth: int) -> str:
        text = f"if ({self.value('boolean', 0)}) {self.block(depth)}"
        return text + (f" else {self.block(depth)}" if self._draw(st.booleans()) else "")

    def repeat(self, depth: int) -> str:
        self._scopes.append({})
        name = self.fresh("counter")
        body = self.block(depth)
        self._scopes.pop()
        limit = self._draw(st.integers(0, 3))
        return f"{{ let {name} := 0; while ({name} < {limit}) {{ {name} := {name} + 1; {body} }} }}"

    def count_up(self, depth: int) -> str:
        self._scopes.append({})
        name = self.fresh("counter")
        body = self.block(depth)
        self._scopes.pop()
        return f"for (let {name} := 0; {name} < 3; {name} := {name} + 1) {body}"

    def each(self, depth: int) -> str:
        collection = self.value("list", 1)
        self._scopes.append({})
        key, value = self.fresh("counter"), self.fresh("number")
        body = self.block(depth)
        self._scopes.pop()
        head = f"{key}, {value}" if self._draw(st.booleans()) else value
        return (
            f"for (let {head} in {collection}) {body}"
            if key in head
            else (f"for (let {value} in {collection}) {{ let {key} := 0; {body} }}")
        )

    def attempt(self, depth: int) -> str:
        body = self.block(depth).removesuffix("}")
        kind = self.pick(["Error", "RetryError", "HogError"])
        message = self.value("text", 1)
        thrown = (
            f"HogError('Mine', {message} || '.')"
            if kind == "HogError"
            else f"{kind}({message} || '.')"
        )
        throws = f" if ({self.value('boolean', 1)}) {{ throw {thrown}; }} }}"
        clauses = self.pick(
            [
                "catch (e) { print(e.type, e.message) }",
                "catch (x: Mine) { print('mine', x.message) } catch { print(e) }",
            ]
        )
        return f"try {body}{throws} {clauses}"

    def function(self, _: int) -> str:
        self._count += 1
        name = f"fun{self._count}"
        self._scopes.append({"p": "number"})
        body = self.block(1).removesuffix("}")
        result = self.value("number", 1)
        self._scopes.pop()
        declared = f"fun {name}(p) {body} return {result}; }}"
        if not self._mixed:  # its body may print: as an operand it would show the order
            return f"{declared} print({name}({self._draw(st.integers(0, 4))}));"
        self._functions.append(name)
        return declared

    def closure(self, _: int) -> str:
        self._count += 1
        name = f"fun{self._count}"
        self._scopes.append({"p": "number"})
        result = self.value("number", 1)
        self._scopes.pop()
        self._functions.append(name)
        return f"let {name} := (p) -> {result};"

    def recursion(self, _: int) -> str:
        """A lambda, alone or in an object, that calls itself a few times."""
        self._count += 1
        name = f"fun{self._count}"
        self._scopes.append({"p": "number"})
        last, more = self.value("number", 2), self.value("number", 2)
        self._scopes.pop()
        rounds = self._draw(st.integers(0, 4))
        if self._draw(st.booleans()):
            value = f"p -> p < 1 ? {last} : {more} + {name}(p - 1)"
            return f"let {name} := {value}; print({name}({rounds}));"
        held = f"{{'f': p -> p < 1 ? {last} : {more} + {name}.f(p - 1)}}"
        return f"let {name} := {held}; print({name}.f({rounds}));"

    # --- expressions

    def value(self, kind: str, depth: int) -> str:
        names = self.variables(kind)
        if names and self._draw(st.integers(0, 2)) == 0:
            return str(self.pick(names))
        if depth >= _DEPTH:
            return self.literal(kind)
        if self._mixed and self._draw(st.integers(0, 7)) == 0:  # the order of effects shows
            return f"say({self.value(kind, depth + 1)})"
        return {
            "number": self.number,
            "text": self.text,
            "boolean": self.boolean,
            "list": self.list,
            "record": self.record,
        }[kind](depth + 1)

    def literal(self, kind: str) -> str:
        if kind == "number":
            return str(self.pick(_NUMBERS))
        if kind == "text":
            return "'" + str(self.pick(_TEXTS)).replace("'", "\\'") + "'"
        if kind == "boolean":
            return str(self.pick(["true", "false"]))
        if kind == "record":
            return f"{{'k': {self.pick(_NUMBERS)}, 'm': 'text'}}"
        return (
            f"[{', '.join(str(self.pick(_NUMBERS)) for _ in range(self._draw(st.integers(1, 3))))}]"
        )

    def scalar(self, depth: int) -> str:
        """An operand: any scalar kind if mixed, else a number."""
        if not self._mixed:
            return self.value("number", depth)
        kind = str(self.pick(["number", "number", "text", "boolean", "null"]))
        if kind == "null":
            return str(self.pick(["null", "effect()"]))
        return self.value(kind, depth)

    def ordered(self, depth: int) -> str:
        if not self._mixed:
            return self.value("number", depth)
        return self.value(str(self.pick(["number", "text", "boolean"])), depth)

    def number(self, depth: int) -> str:  # noqa: PLR0911 (one return a form)
        choice = self._draw(st.integers(0, 11))
        if choice <= 2:
            return self.literal("number")
        if choice == 10:
            return f"{self.value('record', depth)}.k"
        if choice == 11:
            fallback = f"({self.scalar(depth)} - 0)"
            return f"({self.value('record', depth)}.{self.pick(['k', 'none'])} ?? {fallback})"
        if choice <= 5:
            operator = self.pick(["+", "-", "*", "/", "%"])
            return f"({self.scalar(depth)} {operator} {self.scalar(depth)})"
        if choice == 6 and self._functions:
            return f"{self.pick(self._functions)}({self.value('number', depth)})"
        if choice == 7:
            return f"length({self.value(str(self.pick(['text', 'list'])), depth)})"
        if choice == 8:
            then, otherwise = self.value("number", depth), self.value("number", depth)
            return f"({self.value('boolean', depth)} ? {then} : {otherwise})"
        return f"({self.value('list', depth)}[1] ?? 0)"

    def text(self, depth: int) -> str:
        choice = self._draw(st.integers(0, 7))
        if choice == 7:
            return f"{self.value('record', depth)}['m']"
        if choice <= 2:
            return self.literal("text")
        if choice == 3:
            return f"({self.value('text', depth)} || {self.value(str(self.pick(_KINDS)), depth)})"
        if choice == 4:
            return f"upper({self.value('text', depth)})"
        if choice == 5:
            return f"f'<{{{self.value(str(self.pick(_KINDS)), depth)}}}>'"
        return f"substring({self.value('text', depth)}, {self._draw(st.integers(0, 3))}, 2)"

    def record(self, depth: int) -> str:
        return f"{{'k': {self.value('number', depth)}, 'm': {self.value('text', depth)}}}"

    def boolean(self, depth: int) -> str:  # noqa: PLR0911 (one return a form)
        choice = self._draw(st.integers(0, 10))
        if choice == 7:
            low, high = self.value("number", depth), self.value("number", depth)
            # Hog evaluates it twice, JavaScript once.
            value = self.value("number", depth if self._mixed else _DEPTH)
            return f"({value} {self.pick(['between', 'not between'])} {low} and {high})"
        if choice == 8:
            pattern = self.pick(["%a%", "a%", "_b_", "%", "Z"])
            operator = self.pick(["like", "ilike", "not like", "not ilike"])
            return f"({self.value('text', depth)} {operator} '{pattern}')"
        if choice == 9:
            test = self.pick(["is null", "is not null", "== null"])
            return f"({self.value('record', depth)}.{self.pick(['m', 'none'])} {test})"
        if choice == 10:
            operator = self.pick(["=~", "!~", "=~*", "!~*"])
            pattern = self.pick(["a", "^Z", "[0-9]", "B"])
            return f"({self.value('text', depth)} {operator} '{pattern}')"
        if choice == 0:
            return self.literal("boolean")
        if choice <= 2:
            operator = self.pick(["<", "<=", ">", ">="])
            return f"({self.ordered(depth)} {operator} {self.ordered(depth)})"
        if choice == 3:
            return f"({self.scalar(depth)} {self.pick(['==', '!='])} {self.scalar(depth)})"
        if choice == 4:
            # JavaScript may skip the right side, Hog never does.
            left = self.value("boolean", depth)
            right = self.value("boolean", depth if self._mixed else _DEPTH)
            return f"({left} {self.pick(['and', 'or'])} {right})"
        if choice == 5:
            return f"(not {self.value('boolean', depth)})"
        operator = self.pick(["in", "not in"])
        return f"({self.value('number', depth)} {operator} {self.value('list', depth)})"

    def list(self, depth: int) -> str:
        choice = self._draw(st.integers(0, 3))
        if choice <= 1:
            items = [self.value("number", depth) for _ in range(self._draw(st.integers(1, 3)))]
            return f"[{', '.join(items)}]"
        if choice == 2:
            return f"arrayMap(v -> v + 1, {self.value('list', depth)})"
        return f"arrayPushBack({self.value('list', depth)}, {self.value('number', depth)})"


@st.composite
def programs(draw: st.DrawFn, *, mixed: bool) -> str:
    """Programs that compile and terminate."""
    return _Maker(draw, mixed=mixed).program()
