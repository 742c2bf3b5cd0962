"""The outcome of a test case."""

from dataclasses import dataclass, field
from typing import Any

from hoglet.project_tests.cases import Case

type Json = dict[str, Any]


@dataclass(slots=True)
class CaseOutcome:
    """The actual results of a case and how they differ from the expected ones.

    Attributes:
        actual: values by the keys of ``expect``.
        differences: descriptions of the differences; empty if the case passed.
        logs: the log lines of the run.
        trace: ``[{"line": 3, "values": {"total": "4"}, "calls": ["fetch(): …"]}]``.
    """

    case: Case
    actual: Json = field(default_factory=dict[str, Any])
    differences: list[str] = field(default_factory=list[str])
    logs: list[str] = field(default_factory=list[str])
    trace: list[Json] = field(default_factory=list[Any])
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether everything was as expected."""
        return not self.differences
