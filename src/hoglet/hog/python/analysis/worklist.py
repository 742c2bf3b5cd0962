"""The order in which the rules of a fixed point are evaluated."""

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable


class Worklist[Rule]:
    """Evaluates rules until nothing changes: again only those that read what has changed.

    Evaluating all rules in rounds takes as many rounds as facts depend on each other in a row, so
    800 functions that call each other would take 800.

    Args:
        rules: all of them; each is evaluated at least once, in this order.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._waiting = deque(enumerate(rules))
        self._queued = {number for number, _ in self._waiting}
        self._readers: defaultdict[Hashable, dict[int, Rule]] = defaultdict(dict)
        self._current: tuple[int, Rule] | None = None

    def run(self, evaluate: Callable[[Rule], None]) -> None:
        """Call ``evaluate`` with rules, which reports what it reads and changes."""
        while self._waiting:
            self._current = self._waiting.popleft()
            self._queued.discard(self._current[0])
            evaluate(self._current[1])
        self._current = None

    def read(self, fact: Hashable) -> None:
        """The rule that is being evaluated depends on a fact."""
        if self._current is not None:
            number, rule = self._current
            self._readers[fact][number] = rule

    def changed(self, fact: Hashable) -> None:
        """Evaluate the rules that have read a fact again."""
        for number, rule in self._readers[fact].items():
            if number not in self._queued:
                self._queued.add(number)
                self._waiting.append((number, rule))
