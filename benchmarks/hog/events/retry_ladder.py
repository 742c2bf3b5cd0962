"""``retry_ladder.hog`` in hand-written Python."""


def decide(status, attempt, given):
    if 200 <= status < 300:
        return {"action": "done"}
    if status == 429 or status >= 500:
        if attempt >= 3:
            reason = f"status {status} after {attempt} attempts"
            return {"action": "give up", "reason": reason}
        return {"action": "retry", "after": attempt * attempt * 2}
    if status == 404:
        return {"action": "skip"}
    if status in (401, 403):
        return {"action": "alert", "to": given["inputs"]["channel"]}
    raise ValueError(f"Error from api.example.com (status {status})")


def main(given):
    plan = []
    for status in (200, 429, 503, 404, 403, 418):
        try:
            plan.append(decide(status, len(plan), given))
        except ValueError as error:
            plan.append({"action": "failed", "reason": str(error)})
    return plan
