"""The Python printer: generates a Python module from a bound program.

The module binds ``FUNCTIONS`` (name and number of parameters of each function), ``LINES`` (the
Hog line behind each Python line), the constants ``c1``, ``c2`` and so on, and ``f0``, the program.
It uses the names of the vocabulary, numbered names such as ``v1 w1 s1 p1 k1 h1 t1 f1 m1``, and
nothing else: user text is never a name, an attribute or code; it only appears in escaped literals.
"""

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.visitor import always_returns
from hoglet.hog.python.codegen.emitter import COMMON_IMPORTS, ProgramContext
from hoglet.hog.python.codegen.operands import IMPORT, Operand
from hoglet.hog.python.codegen.statements import StatementPrinter


class FunctionPrinter(StatementPrinter):
    """Prints a function of a program."""

    def __init__(self, program: ProgramContext, function: bound.BoundFunction) -> None:
        super().__init__()
        self.program = program
        self.facts = program.facts
        self.effects = program.effects
        self._function = function
        self.counters = {}
        self.literals = {}
        self.reads = {}

    @property
    def bound_function(self) -> bound.BoundFunction:
        """The function being printed."""
        return self._function

    def print_root(self) -> None:
        """Write the program itself."""
        self.line("def f0(d, G):")
        mark = self.mark()
        self._print_body()
        self.indent += 1
        roots = self.program.roots
        lines = [f"{name} = G.get({root!a})" for root, name in roots.items()]
        lines += [f"{COMMON_IMPORTS} = {{}}"] * self.program.has_common_imports
        for text in reversed(lines + self.program.views.lines(roots)):
            self.insert(mark, text)
        self.indent -= 1

    def print_batch(self) -> None:
        """Print the batch form of the expression."""
        result = self._function.body.statements[0]
        if not isinstance(result, bound.Return) or result.value is None:
            raise TypeError("only an expression can be printed for batches")
        self.line("def f0(events, slow):")
        self.indent = 1
        mark = self.mark()
        text = self.strict(result.value)
        before = self.take(mark)
        if not before:
            self.line(f"try: return [{text} for G in events]")
            self.line("except ANY: pass")
        self.line("out = []")
        self.line("for G in events:")
        self.line("  try:")
        self.put([(indent + 2, line, source) for indent, line, source in before])
        self.line(f"    out.append({text})")
        self.line("  except ANY: out.append(slow(G))")
        self.line("return out")

    def variable(self, variable: bound.Variable) -> str:
        """The Python text that reads or is assigned a variable."""
        name = self.program.storage.name(variable)
        return f"{name}[0]" if self.program.storage.is_boxed(variable) else name

    def function(self, function: bound.BoundFunction) -> str:
        """Emit a function and return the name it is bound to."""
        taken = self.program.storage.by_value(function)
        inner = FunctionPrinter(self.program, function)
        inner.indent = self.indent
        inner.source_line = self.source_line
        if taken:
            names = ", ".join([self.program.storage.name(variable) for variable in taken])
            inner.line(f"def m{function.number}({names}):")
            inner.indent += 1
        name = inner._print_function()
        if taken:
            inner.line(f"return {name}")
        self.put(inner.lines)
        if not taken:
            return name
        bound_name = self.temporaries.new()
        self.line(f"{bound_name} = m{function.number}({names})")  # pyright: ignore[reportPossiblyUnboundVariable]
        return bound_name

    def hoist(self, function: bound.BoundFunction) -> None:
        """Emit a function before the program."""
        inner = FunctionPrinter(self.program, function)
        inner.source_line = self.source_line
        inner._print_function()
        self.program.hoisted += inner.lines

    def _print_function(self) -> str:
        """Write this function; returns its name."""
        name = f"f{self._function.number}"
        parameters = [f"{self.program.storage.name(v)}=None" for v in self._function.parameters]
        self.line(f"def {name}({', '.join(['d', *parameters])}):")
        self._print_body()
        return name

    def _print_body(self) -> None:
        self.indent += 1
        self._declare_outer()
        self.line("if d > LIMIT: check(d)")
        for parameter in self._function.parameters:
            self._copy_edited(parameter)
            self.view(parameter)
        self.statement(self._function.body)
        if not always_returns(self._function.body):
            is_result = self._function.number == 0 and not self.program.trace
            self.line("return (None,)" if is_result else "return None")
        if self._function.number in self.program.suspending:
            self.line("yield")  # makes it a generator, even if the calls are never reached
        self.indent -= 1

    def _copy_edited(self, parameter: bound.Variable) -> None:
        """Bind a parameter for which host data is passed to a copy, if it is written to."""
        if parameter in self.program.borrowing.edited:
            name = self.variable(parameter)
            copy = self.edited(parameter, Operand(name, "A", atom=True, raw=IMPORT))
            self.line(f"{name} = {copy.text}")

    def _declare_outer(self) -> None:
        """Declare outer variables that this function assigns."""
        storage = self.program.storage
        names = {
            storage.name(node.variable)
            for node in self.facts.own[self._function.number]
            if isinstance(node, bound.AssignVariable)
            and node.outer
            and not storage.is_boxed(node.variable)
        }
        if names:
            self.line(f"nonlocal {', '.join(sorted(names))}")


def print_program(program: ProgramContext) -> tuple[str, bool]:
    """The Python text of a program, and whether it can suspend."""
    return _module_text(program), 0 in program.suspending


def _module_text(program: ProgramContext) -> str:
    root = FunctionPrinter(program, program.all[0])
    if program.batch:
        root.print_batch()
    else:
        root.print_root()
    signatures = [(function.name, len(function.parameters)) for function in program.all]
    names = dict(enumerate(signatures))
    if [function.number for function in program.all] != list(names):
        names = {f.number: (f.name, len(f.parameters)) for f in program.all}
    table = ", ".join([f"{number}: ({name!a}, {size})" for number, (name, size) in names.items()])
    head = f"FUNCTIONS = {{{table}}}"
    constants = [f"{name} = {text}" for text, name in program.constants.items()]
    printed = [*program.hoisted, *root.lines]
    lines = [0, 0, 0, *[0] * len(constants), *(line for _, _, line in printed)]
    numbers = "LINES = (" + ", ".join([str(line) for line in lines]) + ")"
    body = [f"{'  ' * indent}{text}" for indent, text, _ in printed]
    return "\n".join([head, numbers, *constants, *body]) + "\n"
