"""The outcome of a test case."""

import msgspec

from hoglet.hog.runtime.trace import TraceStep
from hoglet.project_tests.case_types import Results
from hoglet.project_tests.cases import Case


class CaseOutcome(msgspec.Struct):
    """The actual results of a case and how they differ from the expected ones.

    Attributes:
        actual: the results, all of them unless the run was refused.
        differences: descriptions of the differences; empty if the case passed.
        logs: the log lines of the run.
        trace: the last executed lines of a function.
    """

    case: Case
    actual: Results = msgspec.field(default_factory=Results)
    differences: list[str] = msgspec.field(default_factory=list[str])
    logs: list[str] = msgspec.field(default_factory=list[str])
    trace: list[TraceStep] = msgspec.field(default_factory=list[TraceStep])
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether everything was as expected."""
        return not self.differences
