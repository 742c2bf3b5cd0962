"""What came out of a case."""

from dataclasses import dataclass, field
from typing import Any

from hoglet.project_tests.cases import Case

type Json = dict[str, Any]


@dataclass(slots=True)
class CaseOutcome:
    """What came out, beside what was expected.

    Attributes:
        actual: values by the keys of ``expect``.
        differences: lines that say what is not as expected; none when the case passed.
        logs: lines of the run, as the log of the function has them.
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
