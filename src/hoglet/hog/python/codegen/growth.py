"""Prints statements that make a text or an array longer, in place.

Source: docs/spec/hog-language.md#10-limits (what is charged).
"""

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.appending import appended_item
from hoglet.hog.python.analysis.purity import READS
from hoglet.hog.python.codegen.evaluation import item_text
from hoglet.hog.python.codegen.operands import Operand, literal
from hoglet.hog.python.codegen.settled import SettledPrinter


class GrowthPrinter(SettledPrinter):
    """The printer of such statements; its methods return whether they printed one."""

    def kind_of(self, variable: bound.Variable) -> str:
        """The kind of a variable."""
        return self.facts.variables.get(variable) or "A"

    def note(self, name: str, text: str) -> None:
        """Record an assigned value, in traced runs."""
        raise NotImplementedError

    def append(self, node: bound.AssignVariable) -> bool:
        """``s := s || x`` on strings: Python grows the string in place."""
        value, variable = node.value, node.variable
        if not isinstance(value, bound.CallGlobal) or value.name != "concat" or variable.captured:
            return False
        if self.kind_of(variable) != "S" or "concat" in self.program.host_names:
            return False
        head, *rest = value.arguments
        if not isinstance(head, bound.ReadVariable) or head.variable is not variable or not rest:
            return False
        if len(rest) > 8 or any(self.effects.level(item) > 1 for item in rest):
            return False
        operands = self.sequence(tuple(rest), raw=range(len(rest)))
        parts = [self.text_part(operand) for operand in operands]
        name, added = self.variable(variable), self.temporaries.new()
        self.line(f"{added} = {' + '.join(parts)}")
        plain = f"({added}.isascii() or intact({added}))"
        self.line(f"if LEN({added}) <= 256 and {plain}: {name} = {name} + {added}")
        self.line(f"else: {name} = glue({name}, {added})")
        self.line(f"if LEN({name}) > CAP: full({name})")
        return True

    def append_item(self, node: bound.AssignVariable) -> bool:
        """``a := arrayPushBack(a, x)`` on an array that nothing else refers to."""
        item = appended_item(node)
        if item is None or node.variable not in self.program.appended:
            return False
        array = self.variable(node.variable)
        if self.is_counted(node.variable):
            counter = self.counter(node.variable)
            self.store(self.plain_value(item), counter, f"{array}.append({{}})")
        else:
            self.line(f"{array}.append({item_text(self.value(item))})")
        self.line(f"if not LEN({array}) & 1023: grown()")
        return True

    def push(self, node: bound.AssignProperty) -> bool:
        """``a[length(a) + 1] := x`` on an array."""
        match node.key:
            case bound.Arithmetic(
                operator="+",
                left=bound.CallGlobal(name="length", arguments=(bound.ReadVariable() as measured,)),
                right=bound.Constant(value=1),
            ):
                target = node.target
            case _:
                return False
        if not isinstance(target, bound.ReadVariable) or target.variable is not measured.variable:
            return False
        if "length" in self.program.host_names or self.effects.level(node.value) > READS:
            return False
        value = self.bind(self.as_item(self.value(node.value)))
        self.test_written(node, literal(1), value)
        array = self.variable(target.variable)
        # every 1024th takes the slow path, which charges the memory
        self.line(f"if type({array}) is L and LEN({array}) & 1023: {array}.append({value.text})")
        self.line(f"else: set_prop({array}, add(L_length({array}), 1), {value.text})")
        self.note("item", value.text)
        return True

    @staticmethod
    def as_item(value: Operand) -> Operand:
        """A value that goes into a container."""
        return Operand(item_text(value), "A") if value.kind == "F" and not value.constant else value
