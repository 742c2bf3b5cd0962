"""Compiles functions in a sandbox worker, so that user text is never parsed in this process.

Source: docs/spec/hog-language.md#13-parser (deadline of 5 seconds).
"""

from typing import Protocol

import msgspec

from hoglet.functions.compile.messages import CompileAnswer, CompiledFunction, CompileInput
from hoglet.kit.errors import Invalid
from hoglet.sandbox import Sandbox, SandboxCrashed, SandboxTimedOut

# The path of an operation, so that the server does not import what only workers run.
_COMPILE = "hoglet.functions.worker_operations:compile_function"

DEADLINE_SECONDS = 5.0


class Compiler(Protocol):
    """Compiles functions for storage."""

    async def compile(self, draft: CompileInput) -> CompiledFunction:
        """Compile a function.

        Raises:
            Invalid: it is invalid; reports the first error.
        """
        ...


class SandboxCompiler:
    """Compiles with ``functions.compile`` of the sandbox."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def compile(self, draft: CompileInput) -> CompiledFunction:
        """Compile a function.

        Raises:
            Invalid: it is invalid, or takes too long to parse.
        """
        try:
            answer = await self._sandbox.call(
                _COMPILE, msgspec.to_builtins(draft), deadline=DEADLINE_SECONDS
            )
        except (SandboxTimedOut, SandboxCrashed):
            raise Invalid("The source takes too long to parse.", attr="hog") from None
        return read_answer(answer)


def read_answer(answer: CompileAnswer) -> CompiledFunction:
    """The result of ``worker_operations.compile_function``.

    Raises:
        Invalid: the function was rejected.
    """
    refused = answer.get("refused")
    if refused is not None:
        raise Invalid(refused["detail"], code=refused["code"], attr=refused["attr"])
    return msgspec.convert(answer.get("compiled"), CompiledFunction)
