"""The steps of a run, and the interface of its host.

Source: docs/spec/hog-language.md#7-errors and docs/spec/hog-language.md#12-bytecode.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from hoglet.hog.python.program import CompiledProgram
from hoglet.hog.runtime.errors import RunError

type Step = "Finished | HostCallRequest | Failed"


class Finished(msgspec.Struct, frozen=True):
    """The program finished.

    Attributes:
        result: plain data.
        is_settled: it is known to be, see :mod:`hoglet.hog.runtime.settled_data`.
    """

    result: Any
    is_settled: bool = False


class HostCallRequest(msgspec.Struct, frozen=True):
    """The program waits for an async call: ``HostCallRequest("fetch", [url, options])``."""

    name: str
    args: list[Any]


class Failed(msgspec.Struct, frozen=True):
    """The program failed."""

    error: RunError


class Chunk(msgspec.Struct, frozen=True):
    """Another program that a program may ``import('name')``; it runs once and cannot suspend."""

    program: CompiledProgram
    globals: Mapping[str, Any] = {}


NO_CHUNKS: Final[Mapping[str, Chunk]] = MappingProxyType({})
NO_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType({})


class ProgramHost(msgspec.Struct, frozen=True):
    """What a host provides to a program.

    Attributes:
        functions: synchronous functions by name, which take and return plain data.
        chunks: programs to import, by name.
    """

    functions: Mapping[str, Callable[..., Any]] = NO_FUNCTIONS
    chunks: Mapping[str, Chunk] = NO_CHUNKS


NO_HOST: Final = ProgramHost()
