"""The bound tree: what a Hog text means once every name is resolved.

All printers (bytecode, Python, JavaScript) read this tree and nothing else. It differs from the
syntax tree in that

- every name is a :class:`Variable` (of this function or an outer one), a global path, or a call
  of a library or host function;
- `not(x)`, `if(c, a, b)`, `multiIf`, `a ?? b`, `f(1)(2)`, tags and `{x}` lambda bodies have become
  the few nodes below;
- every scope carries the variables that end with it (``ends``, last declared first).

Nodes compare by identity and may be used as dictionary keys. ``start`` and ``end`` are the place in
the source (``None`` for what the compiler added).

Source: docs/spec/hog-language.md#2-statements, docs/spec/hog-language.md#5-semantics-of-operators,
docs/spec/hog-language.md#6-scopes-closures-calls and docs/spec/hog-language.md#12-bytecode.
"""

from typing import Literal

import msgspec

from hoglet.syntax.tree import Position

type ComparisonOperator = Literal[
    "==", "!=", "<", "<=", ">", ">=", "like", "ilike", "not like", "not ilike",
    "in", "not in", "=~", "!~", "=~*", "!~*",
]  # fmt: skip
type ArithmeticOperator = Literal["+", "-", "*", "/", "%"]
type Scalar = bool | int | float | str | None


class Variable:
    """One declared name. Identity is the variable; the same name declared twice makes two.

    Attributes:
        name: as written; hidden ones are called ``__H_index_H__`` and the like.
        slot: its place in the frame of its function, counted from the first parameter.
        function: number of the function that declares it (:attr:`BoundFunction.number`).
        captured: an inner function reads or writes it, so it needs a cell of its own.
        assigned: it is assigned after its declaration (by its function or an inner one).
        used: it is read anywhere.
        hidden: made by the compiler; no name in the source means it.
    """

    __slots__ = ("assigned", "captured", "function", "hidden", "name", "slot", "start", "used")

    def __init__(
        self,
        name: str,
        *,
        slot: int,
        function: int,
        start: Position | None,
        hidden: bool = False,
    ) -> None:
        self.name = name
        self.slot = slot
        self.function = function
        self.start = start
        self.hidden = hidden
        self.captured = False
        self.assigned = False
        self.used = False

    def __repr__(self) -> str:
        return f"<{self.name} slot {self.slot} of function {self.function}>"


class Node(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What every bound node has."""

    start: Position | None = None
    end: Position | None = None


# --- expressions


class Constant(Node, frozen=True, kw_only=True, eq=False):
    """A literal. Integers beyond 64 bits, infinities and NaN are floats."""

    value: Scalar


class ReadVariable(Node, frozen=True, kw_only=True, eq=False):
    """The value of a variable; ``outer`` when another function declared it."""

    variable: Variable
    outer: bool


class ReadGlobal(Node, frozen=True, kw_only=True, eq=False):
    """A global and a path below it: ``event.properties.x`` is one node.

    ``library`` is true for a lone name of the standard library, read as a value; a global of the
    same name wins over it at run time.
    """

    path: tuple[str | int, ...]
    library: bool = False


class GetProperty(Node, frozen=True, kw_only=True, eq=False):
    """``target.key``, ``target[key]``; ``nullish`` for ``?.`` (which gives the same results).

    ``dotted`` is true for the path of a name, ``a.b``.
    """

    target: "Expression"
    key: "Expression"
    nullish: bool = False
    dotted: bool = False


class CallGlobal(Node, frozen=True, kw_only=True, eq=False):
    """A call by a name that no scope declares: host function, library function, or nothing.

    ``library`` is true when the standard library has the name; the host still comes first.
    """

    name: str
    arguments: tuple["Expression", ...]
    library: bool


class CallValue(Node, frozen=True, kw_only=True, eq=False):
    """A call of a value. The arguments are evaluated before the callee."""

    callee: "Expression"
    arguments: tuple["Expression", ...]


class And(Node, frozen=True, kw_only=True, eq=False):
    """Every operand is evaluated, left to right; gives a boolean."""

    operands: tuple["Expression", ...]


class Or(Node, frozen=True, kw_only=True, eq=False):
    """Every operand is evaluated, left to right; gives a boolean."""

    operands: tuple["Expression", ...]


class Not(Node, frozen=True, kw_only=True, eq=False):
    """Gives a boolean."""

    operand: "Expression"


class Compare(Node, frozen=True, kw_only=True, eq=False):
    """A comparison. The right operand is evaluated first."""

    operator: ComparisonOperator
    left: "Expression"
    right: "Expression"


class Between(Node, frozen=True, kw_only=True, eq=False):
    """``value between low and high``; evaluated in the order low, value, high, value."""

    value: "Expression"
    low: "Expression"
    high: "Expression"
    negated: bool


class Arithmetic(Node, frozen=True, kw_only=True, eq=False):
    """``left operator right`` on numbers. The right operand is evaluated first."""

    operator: ArithmeticOperator
    left: "Expression"
    right: "Expression"


class Conditional(Node, frozen=True, kw_only=True, eq=False):
    """``condition ? then : otherwise``; lazy. A missing ``else`` is a null constant."""

    condition: "Expression"
    then: "Expression"
    otherwise: "Expression"


class IfNull(Node, frozen=True, kw_only=True, eq=False):
    """``value ?? fallback``; lazy."""

    value: "Expression"
    fallback: "Expression"


class MakeArray(Node, frozen=True, kw_only=True, eq=False):
    """``[a, b]``."""

    items: tuple["Expression", ...]


class MakeTuple(Node, frozen=True, kw_only=True, eq=False):
    """``(a, b)``."""

    items: tuple["Expression", ...]


class MakeObject(Node, frozen=True, kw_only=True, eq=False):
    """``{'k': v}`` as pairs in source order; tags become one with ``__hx_tag``."""

    items: tuple[tuple["Expression", "Expression"], ...]


class MakeFunction(Node, frozen=True, kw_only=True, eq=False):
    """A lambda."""

    function: "BoundFunction"


class SqlNode(Node, frozen=True, kw_only=True, eq=False):
    """A piece of an SQL tree: an object of ``__hx_ast: kind`` and the fields in order.

    Spliced ``{expr}`` are ordinary expressions. Only :class:`SqlNode`, lists, maps, scalars and
    expressions occur as values.
    """

    kind: str
    fields: tuple[tuple[str, "SqlValue"], ...]


class SqlList(msgspec.Struct, frozen=True, eq=False):
    """A list inside an SQL tree."""

    items: tuple["SqlValue", ...]


class SqlMap(msgspec.Struct, frozen=True, eq=False):
    """A map with text keys inside an SQL tree."""

    items: tuple[tuple[str, "SqlValue"], ...]


class SqlScalar(msgspec.Struct, frozen=True, eq=False):
    """A plain value of a field of an SQL tree, e.g. an operator or a flag."""

    value: Scalar


# --- statements


class ExpressionStatement(Node, frozen=True, kw_only=True, eq=False):
    """Evaluate and drop."""

    expression: "Expression"


class Declare(Node, frozen=True, kw_only=True, eq=False):
    """``let``: a new cell each time it is executed; ``value is None`` means null.

    Attributes:
        recursive: functions inside the value read or assign the variable.
        early: such a function may be called while the value is evaluated; until the value is
            there the variable is null.
    """

    variable: Variable
    value: "Expression | None"
    recursive: bool = False
    early: bool = False


class DeclareFunction(Node, frozen=True, kw_only=True, eq=False):
    """``fun``: the variable is known inside the body."""

    variable: Variable
    function: "BoundFunction"


class AssignVariable(Node, frozen=True, kw_only=True, eq=False):
    """``name := value``; ``outer`` when another function declared the name."""

    variable: Variable
    outer: bool
    value: "Expression"


class AssignProperty(Node, frozen=True, kw_only=True, eq=False):
    """``target[key] := value``, evaluated in the order target, key, value."""

    target: "Expression"
    key: "Expression"
    value: "Expression"


class Return(Node, frozen=True, kw_only=True, eq=False):
    """``return``; ``value is None`` means null."""

    value: "Expression | None"


class Throw(Node, frozen=True, kw_only=True, eq=False):
    """``throw``."""

    value: "Expression"


class If(Node, frozen=True, kw_only=True, eq=False):
    """``if``."""

    condition: "Expression"
    then: "Statement"
    otherwise: "Statement | None"


class While(Node, frozen=True, kw_only=True, eq=False):
    """``while``."""

    condition: "Expression"
    body: "Statement"


class For(Node, frozen=True, kw_only=True, eq=False):
    """``for (initializer; condition; step) body``; no condition means endless.

    ``ends`` are the variables of the initializer; a captured one has a cell per round, copied
    before the step.
    """

    initializer: "Statement | None"
    condition: "Expression | None"
    step: "Statement | None"
    body: "Statement"
    ends: tuple[Variable, ...]


class ForIn(Node, frozen=True, kw_only=True, eq=False):
    """``for (let key, value in collection) body``; key and value are fresh in each round.

    ``hidden`` are the official compiler's own locals by their order: collection, keys (only with
    a key), values, index, limit. Only the bytecode printer needs them.
    """

    key: Variable | None
    value: Variable
    collection: "Expression"
    body: "Statement"
    hidden: tuple[Variable, ...]
    ends: tuple[Variable, ...]


class Catch(Node, frozen=True, kw_only=True, eq=False):
    """One clause: ``type_name is None`` takes every error.

    ``variable`` is the try's own ``error`` variable when the clause calls it ``e`` (or nothing),
    else a variable of the clause that gets a copy.
    """

    type_name: str | None
    variable: Variable
    body: "Block"
    ends: tuple[Variable, ...]


class Try(Node, frozen=True, kw_only=True, eq=False):
    """``try``. ``error`` (``e``) and ``error_type`` (``type``) can be read in every clause."""

    body: "Statement"
    error: Variable
    error_type: Variable
    catches: tuple[Catch, ...]
    ends: tuple[Variable, ...]


class Block(Node, frozen=True, kw_only=True, eq=False):
    """Statements with a scope of their own; ``ends`` are its variables, last declared first."""

    statements: tuple["Statement", ...]
    ends: tuple[Variable, ...]


class BoundFunction(Node, frozen=True, kw_only=True, eq=False):
    """A function, lambda, or the program itself.

    Attributes:
        name: as declared; ``lambda`` for lambdas, ``root`` for the program.
        number: unique in the program; the root is 0.
        parent: number of the function around it, None for the root.
        parameters: slots 0 to n-1.
        body: its statements. A body that can end without ``return`` gives null.
        captures: variables of outer functions that this function, or one inside it, uses.
        variables: every variable it declares, parameters first, in the order of declaration.
        has_return: some ``return`` belongs to it.
        is_lambda: made by ``->``.
    """

    name: str
    number: int
    parent: int | None
    parameters: tuple[Variable, ...]
    body: Block
    captures: tuple[Variable, ...]
    variables: tuple[Variable, ...]
    has_return: bool = False
    is_lambda: bool = False


class Warning_(msgspec.Struct, frozen=True):  # noqa: N801 (Warning is a builtin)
    """Something that compiles but looks wrong; line and column from 1."""

    message: str
    line: int
    column: int
    start: int
    end: int
    hint: str | None = None

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}"


class BoundProgram(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A whole program.

    Attributes:
        root: the program as a function.
        functions: every function by its number, the root first.
        global_reads: root names of the globals it reads, e.g. ``{"event", "inputs"}``.
        global_calls: names called that no scope declares, e.g. ``{"fetch", "print"}``. Together
            with ``global_reads`` (a function read as a value) they say whether a run can suspend.
        warnings: in source order.
    """

    root: BoundFunction
    functions: tuple[BoundFunction, ...]
    global_reads: frozenset[str]
    global_calls: frozenset[str]
    warnings: tuple[Warning_, ...]


class BoundExpression(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One expression (filter, condition, template); the other attributes as in a program.

    ``functions`` are the lambdas inside it; their parent is the number 0, which has no entry.
    """

    expression: "Expression"
    functions: tuple[BoundFunction, ...]
    global_reads: frozenset[str]
    global_calls: frozenset[str]
    warnings: tuple[Warning_, ...]


type Expression = (
    Constant
    | ReadVariable
    | ReadGlobal
    | GetProperty
    | CallGlobal
    | CallValue
    | And
    | Or
    | Not
    | Compare
    | Between
    | Arithmetic
    | Conditional
    | IfNull
    | MakeArray
    | MakeTuple
    | MakeObject
    | MakeFunction
    | SqlNode
)
type SqlValue = SqlList | SqlMap | SqlScalar | Expression
type Statement = (
    ExpressionStatement
    | Declare
    | DeclareFunction
    | AssignVariable
    | AssignProperty
    | Return
    | Throw
    | If
    | While
    | For
    | ForIn
    | Try
    | Block
)
