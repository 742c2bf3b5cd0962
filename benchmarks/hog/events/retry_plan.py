"""``retry_plan.hog`` in hand-written Python."""

from benchmarks.hog.printing import printed


def delay(attempt, base, cap):
    wait = base
    for _ in range(1, attempt):
        wait *= 2
    return min(wait, cap)


def main(_given):
    plan, total, lines = [], 0, []
    for attempt in range(1, 7):
        wait = delay(attempt, 500, 10000)
        total += wait
        plan.append({"attempt": attempt, "wait_ms": wait, "at_ms": total})
    lines.append(printed(plan))
    return {"retries": plan, "gives_up_after": total}
