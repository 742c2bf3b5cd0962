"""Which error statuses fail a run: those that the program does not handle."""

from datetime import UTC, datetime

import pytest

from hoglet.functions.executable.model import ExecutableFunction, ExecutableInput
from hoglet.functions.runtime.handled_statuses import is_handled
from hoglet.functions.runtime.host_calls import new_journal, resume
from hoglet.functions.runtime.messages import Step, StepRequest
from hoglet.functions.runtime.step import run_step

EVENT = {"uuid": "0198c2a0-0000-7000-8000-000000000001", "event": "e", "distinct_id": "a"}

ASK_THEN_CREATE = """
let found := fetch('https://crm.example/companies/acme', {'method': 'GET'})
if (found.status == 404) {
    let made := fetch('https://crm.example/companies', {'body': {'name': 'acme'}})
    if (made.status >= 400) {
        throw Error(f'Could not create the company: {made.status}')
    }
    return made.body
}
if (found.status >= 400) { throw Error(f'Could not search: {found.status}') }
return found.body
"""


def run(hog: str, *statuses: int, codes: list[object] | None = None) -> Step:
    inputs = (ExecutableInput(key="codes", value=codes or [], type="non_failure_status_codes"),)
    function = ExecutableFunction(id="f", project_id=1, type="destination", hog=hog, inputs=inputs)
    journal = new_journal(datetime(2026, 1, 1, tzinfo=UTC), seed=1)
    for status in (*statuses, None):
        step = run_step(StepRequest(function=function, globals={"event": EVENT}, journal=journal))
        if step.outcome != "call" or status is None:
            return step
        journal = resume(step, {"status": status, "body": "said"})
    raise AssertionError("unreachable")


@pytest.mark.parametrize(
    ("hog", "statuses", "outcome", "error_class"),
    [
        (ASK_THEN_CREATE, (200,), "finished", None),
        (ASK_THEN_CREATE, (404, 201), "finished", None),
        (ASK_THEN_CREATE, (404, 400), "failed", "fetch"),
        (ASK_THEN_CREATE, (404, 503), "failed", "fetch"),
        (ASK_THEN_CREATE, (500,), "failed", "fetch"),
        ("fetch('https://a')", (400,), "failed", "fetch"),
        ("fetch('https://a')", (399,), "finished", None),
        ("let r := fetch('https://a')", (404,), "failed", "fetch"),
        ("let r := fetch('https://a'); print(r.status)", (404,), "failed", "fetch"),
        ("try { fetch('https://a') } catch {}", (404,), "failed", "fetch"),
        ("let r := fetch('https://a'); if (r.body.status == 404) {}", (404,), "failed", "fetch"),
        ("let r := fetch('https://a'); if (r.status == 404) { return }", (404,), "finished", None),
        ("let r := fetch('https://a'); if (r.status == 404) { return }", (410,), "failed", "fetch"),
        ("let r := fetch('https://a'); if (r.status < 300) { return }", (503,), "finished", None),
        ("fetch('https://a'); fetch('https://b')", (404, 200), "failed", "fetch"),
        (
            "let r := fetch('https://a'); if (r.status == 404) { throw Error('x') }",
            (404,),
            "failed",
            "fetch",
        ),
        (
            "if (fetch('https://a').status == 404) { fetch('https://b') } throw Error('x')",
            (404, 200),
            "failed",
            "hog",
        ),
        ("let r := fetch('https://a'); throw Error('x')", (200,), "failed", "hog"),
    ],
)
def test_a_run_is_as_its_program_ends_it(
    hog: str, statuses: tuple[int, ...], outcome: str, error_class: str | None
) -> None:
    step = run(hog, *statuses)

    assert (step.outcome, step.error_class) == (outcome, error_class)


def test_listed_statuses_fail_no_run_whatever_the_program_does() -> None:
    assert run("fetch('https://a')", 404, codes=[404]).outcome == "finished"
    assert run("fetch('https://a')", 503, codes=["5xx"]).outcome == "finished"
    assert run("fetch('https://a')", 503, codes=["4xx"]).outcome == "failed"


@pytest.mark.parametrize(
    ("condition", "handled", "unhandled"),
    [
        ("r.status = 404", {404}, {400, 500}),
        ("404 == r.status", {404}, {403}),
        ("r['status'] == 404", {404}, {403}),
        ("r?.status == 404", {404}, {403}),
        ("fetch('https://a').status == 404", {404}, {403}),
        ("s == 404", {404}, {403}),
        ("r.status == '404'", {404}, {403}),
        ("r.status in [404, 410]", {404, 410}, {400}),
        ("r.status in (404, 410)", {404, 410}, {400}),
        ("r.status not in [200, 404]", {400, 404, 500}, set()),
        ("r.status != 200", {400, 599}, set()),
        ("r.status >= 400", {400, 599}, set()),
        ("400 <= r.status", {400, 599}, set()),
        ("300 > r.status", {400, 599}, set()),
        ("r.status > 404", {405, 500}, {400, 404}),
        ("r.status < 500", {500, 503}, {404}),
        ("not (r.status == 404)", {404}, {500}),
        ("r.status == 404 or r.status == 409", {404, 409}, {400}),
        ("r.status == inputs.expected", {404, 500}, set()),
        ("r.status == 200", {404, 500}, set()),
        ("r.ok", set(), {404}),
        ("r.body.status == 404", set(), {404}),
        ("event.properties.status == 'paid'", set(), {404}),
        ("event.properties.status == 404", set(), {404}),
        ("inputs.status != 200", set(), {404}),
        ("r.status == 'gone'", set(), {404}),
        ("true", set(), {404}),
        ("r.status between 400 and 499", {400, 499}, {500}),
        ("toString(r.status) like '4%'", {400, 404}, {500}),
        ("r.status =~ '^4'", {400, 404}, {500}),
        ("toString(r.status) == '404'", {404}, {500}),
        ("floor(r.status / 100) == 4", {400, 404}, {500}),
        ("r.status - 404 == 0", {404}, {500}),
        ("(r.status ?? 0) == 404", {404}, {500}),
        ("has([404, 410], r.status)", {404, 410}, {500}),
        ("indexOf([404], r.status) > 0", {404}, {500}),
        ("arrayExists(x -> x == r.status, [404])", {404}, {500}),
        ("equals(r.status, 404)", {404}, {500}),
        ("greaterOrEquals(r.status, 400)", {400, 503}, set()),
        ("r.status >= 400 and r.status < 500", {400, 404}, {500, 503}),
        ("r.status >= 400 and r.status != 409", {400, 409, 503}, set()),
        ("r.status >= 400 and r.status < 500 and r.status != 409", {404, 409}, {503}),
        ("r.status >= 400 and event.event == 'x'", {400, 503}, set()),
        ("not (r.status >= 200 and r.status < 300)", {400, 503}, set()),
        ("r.body.error.status == 404", set(), {404}),
        ("jsonParse(r.body).status == 404", set(), {404}),
        ("inputs['status'] == 404", set(), {404}),
        ("r.status is null", set(), {404}),
        ("f'{r.status}' =~ 'x'", set(), {404}),
    ],
)
def test_comparisons_tell_which_statuses_are_handled(
    condition: str, handled: set[int], unhandled: set[int]
) -> None:
    hog = f"let r := fetch('https://a'); let s := r.status; if ({condition}) {{ return 1 }}"

    assert {status for status in handled | unhandled if is_handled(hog, status)} == handled


def test_comparisons_in_functions_and_lambdas_count() -> None:
    assert is_handled("fn bad(r) { return r.status >= 400 } bad(fetch('https://a'))", 404)
    assert is_handled("let bad := r -> r.status >= 400; bad(fetch('https://a'))", 404)


@pytest.mark.parametrize(
    "hog",
    [
        "let s := r.status; let t := s; if (t == 404) { return }",
        "let s; s := toString(r.status); if (s == '404') { return }",
        "fun is_gone(code) { return code == 404 } if (is_gone(r.status)) { return }",
        "let is_gone := code -> code == 404; if (is_gone(r.status)) { return }",
        "let kept := {'status': r.status}; if (kept.status == 404) { return }",
        "let pair := [r.status, 1]; if (pair[1] == 404) { return }",
        "while (r.status == 404) { r := fetch('https://b') }",
    ],
)
def test_a_status_is_followed_through_names(hog: str) -> None:
    program = f"let r := fetch('https://a'); {hog}"

    assert is_handled(program, 404)
    assert not is_handled(program, 500)


def test_a_body_is_not_a_response() -> None:
    assert not is_handled("let b := fetch('https://a').body; if (b.status == 404) {}", 404)
    assert not is_handled(
        "let r := fetch('https://a'); let b := r.body; if (b.status == 1) {}", 404
    )


def test_names_that_grow_are_not_followed_forever() -> None:
    doubled = "".join(f"let a{n + 1} := a{n} + a{n};" for n in range(40))

    assert not is_handled(f"let a0 := fetch('https://a').status; {doubled} print(a40)", 404)
