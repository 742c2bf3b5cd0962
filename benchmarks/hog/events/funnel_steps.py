"""``funnel_steps.hog`` in hand-written Python."""

from benchmarks.hog.printing import printed

PATHS = ["/", "/products", "/cart", "/checkout", "/checkout/thanks"]


def main(given):
    p, lines, steps, reached = given["event"]["properties"], [], [], 0
    path = p["$pathname"]
    for i, step in enumerate(PATHS, 1):
        done = path.startswith(step)
        if done:
            reached = i
        steps.append({"step": i, "path": step, "done": done})
    lines.append(printed(steps))
    lines.append(f"reached {reached} of {len(PATHS)} {round(reached / len(PATHS) * 100)} %")
    return {"session": p["$session_id"], "reached": reached, "steps": steps}
