"""Compiles drafts in a sandbox worker, so that no text of a user is parsed in this process.

Source: docs/spec/hog-language.md#13-parser (deadline of 5 seconds).
"""

from typing import Any, Protocol

import msgspec

from hoglet.functions.compile.unit import CompiledFunction, CompileInput
from hoglet.functions.worker_operations import compile_function
from hoglet.kit.errors import Invalid
from hoglet.sandbox import Sandbox, SandboxCrashed, SandboxTimedOut

DEADLINE_SECONDS = 5.0


class Compiler(Protocol):
    """Turns drafts into what is stored."""

    async def compile(self, draft: CompileInput) -> CompiledFunction:
        """Compile a draft.

        Raises:
            Invalid: the first rule it breaks.
        """
        ...


class SandboxCompiler:
    """Compiles through ``functions.compile`` of the sandbox."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def compile(self, draft: CompileInput) -> CompiledFunction:
        """Compile a draft.

        Raises:
            Invalid: the first rule it breaks, or it takes too long to parse.
        """
        try:
            answer = await self._sandbox.call(
                compile_function, msgspec.to_builtins(draft), deadline=DEADLINE_SECONDS
            )
        except (SandboxTimedOut, SandboxCrashed):
            raise Invalid("Source takes too long to parse.", attr="hog") from None
        return read_answer(answer)


def read_answer(answer: dict[str, Any]) -> CompiledFunction:
    """The answer of ``operations.compile_function``.

    Raises:
        Invalid: it was a refusal.
    """
    refused = answer.get("refused")
    if refused is not None:
        raise Invalid(refused["detail"], code=refused["code"], attr=refused["attr"])
    return msgspec.convert(answer["compiled"], CompiledFunction)
