"""What the printer knows about a program, whichever globals a run gets."""

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.appending import ArrayUses
from hoglet.hog.python.analysis.borrowing import Borrowing
from hoglet.hog.python.analysis.formatted import Formatted
from hoglet.hog.python.analysis.hoisting import hoisted_functions
from hoglet.hog.python.analysis.inlined_calls import InlinedCalls
from hoglet.hog.python.analysis.loops import loops_around
from hoglet.hog.python.analysis.results import Results
from hoglet.hog.python.analysis.short_texts import short_texts
from hoglet.hog.python.analysis.suspending import find_suspending
from hoglet.hog.python.analysis.type_facts import TypeFacts


class ProgramAnalysis:
    """The analyses of one program; each is described in its module.

    Attributes:
        host_names: all names that the host provides; they hide library functions.
        is_optimized: whether the program may differ from its text in anything but results.
        appended: see :meth:`hoglet.hog.python.analysis.appending.ArrayUses.appended`.
        loops: see :func:`hoglet.hog.python.analysis.loops.loops_around`.
        hoisted: see :func:`hoglet.hog.python.analysis.hoisting.hoisted_functions`.
        short_texts: see :func:`hoglet.hog.python.analysis.short_texts.short_texts`.
        suspending: see :func:`hoglet.hog.python.analysis.suspending.find_suspending`.
        dynamic_async: the second part of that.

    Args:
        all_functions: the program, then its functions.
        functions: names of host functions that return at once.
        async_names: names of calls that suspend the run.
        trace: whether values and calls are recorded line by line.
        batch: print ``f0(events, slow)``, the truth of the one expression for many events.
    """

    def __init__(
        self,
        all_functions: tuple[bound.BoundFunction, ...],
        functions: frozenset[str],
        async_names: frozenset[str],
        *,
        trace: bool,
        batch: bool = False,
    ) -> None:
        self.functions, self.async_names = functions, async_names
        self.trace, self.batch = trace, batch
        self.host_names = host = functions | async_names
        self.is_optimized = optimized = not (trace or batch)
        self.facts = facts = TypeFacts(all_functions, host, trace=trace)
        self.loops = loops = loops_around(facts)
        self.borrowing = borrowing = Borrowing(facts, loops, host, enabled=optimized)
        self.formatted = Formatted(facts, borrowing, host, enabled=optimized)
        uses = ArrayUses(facts, host)
        formatted = self.formatted.variables
        self.results = Results(facts, borrowing, formatted, uses, host, enabled=optimized)
        self.appended = set[bound.Variable]() if trace else uses.appended()
        self.inlined = InlinedCalls(facts, host, enabled=optimized)
        self.hoisted = hoisted_functions(facts, borrowing) if optimized else {}
        self.short_texts = short_texts(facts, loops, host) if optimized else set()
        self.suspending, self.dynamic_async = find_suspending(
            all_functions, facts, functions=functions, async_names=async_names
        )
