"""The interactive prompt of ``hoglet hog repl``.

A session is one program that grows: each entry is compiled together with the declarations before
it and run from the start, and only what is new is printed. So an entry sees exactly what a program
would see; what earlier entries print is not shown again.
"""

import secrets
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.history import FileHistory

from hoglet.hog.compile import compile_program
from hoglet.hog.python.run_to_end import run_program
from hoglet.hog.stdlib.table import STL
from hoglet.kit.errors import SourceError
from hoglet.kit.json import JsonObject
from hoglet.syntax import tree
from hoglet.syntax.parse import parse_program

_KEYWORDS = (
    "let fun fn return if else while for in try catch throw true false null and or not like "
    "between case when then end interval"
)


class Session:
    """What has been entered, and the globals it runs with."""

    def __init__(self, values: JsonObject) -> None:
        self._values = values
        self._entries: list[str] = []
        self._printed = 0
        self._seed = secrets.randbits(64)  # every run from the start draws the same numbers

    def enter(self, text: str) -> list[str]:
        """Run one entry. Returns the lines to show: what it prints, its value, or its error."""
        try:
            entry = _with_value_printed(text)
            source = "\n".join([*self._entries, entry])
            compile_program(source)
            outcome = run_program(source, globals=self._values, seed=self._seed)
        except SourceError as error:
            return [f"{error.message}" + (f" ({error.hint})" if error.hint else "")]
        lines = outcome.lines[self._printed :]
        if outcome.error is not None:
            return [*lines, outcome.error.text]
        self._entries.append(entry)
        self._printed = len(outcome.lines)
        return lines

    def names(self) -> list[str]:
        """Words to complete: keywords, library, globals, declared names."""
        declared = [
            node.name
            for entry in self._entries
            for node in parse_program(entry).declarations
            if isinstance(node, tree.VariableDeclaration | tree.Function)
        ]
        return sorted({*_KEYWORDS.split(), *STL, *self._values, *declared})


def start(values: JsonObject) -> None:
    """Read entries until the end of input; an open bracket continues on the next line."""
    session = Session(values)
    history = Path.home() / ".hoglet_history"
    prompt: PromptSession[str] = PromptSession(history=FileHistory(str(history)))
    while True:
        try:
            text = prompt.prompt("hog> ", completer=WordCompleter(session.names()))
            while is_open(text):
                text += "\n" + prompt.prompt("...> ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if text.strip():
            for line in session.enter(text):
                print(line)


def is_open(text: str) -> bool:
    """Whether a bracket, string or comment of ``text`` is still open."""
    try:
        parse_program(text)
    except SourceError as error:
        return error.start >= len(text.rstrip()) and bool(text.strip())
    return False


def _with_value_printed(text: str) -> str:
    """A lone expression is printed, unless it is a call of ``print``."""
    statements = parse_program(text).declarations
    if len(statements) != 1 or not isinstance(statements[0], tree.ExprStatement):
        return text
    node = statements[0].expr
    if node is None or (isinstance(node, tree.Call) and node.name == "print"):
        return text
    if node.start is None or node.end is None:
        return text
    return f"print({text[node.start.offset : node.end.offset]})"
