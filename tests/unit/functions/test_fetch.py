"""Options of ``fetch``, and ``parseUserAgent``."""

import pytest

from hoglet.functions.executable.model import ExecutableFunction, ExecutableInput
from hoglet.functions.runtime.fetch import (
    FetchRefused,
    ignored_options,
    read_fetch,
)
from hoglet.functions.runtime.journal import RunJournal
from hoglet.functions.runtime.messages import Step, StepRequest
from hoglet.functions.runtime.step import run_step
from hoglet.functions.runtime.user_agent import parse_user_agent

SIGNER = {"access_key_id": "a", "secret_access_key": "s", "region": "r", "service": "kinesis"}


def run(
    hog: str, *, with_rendering: bool = False, inputs: tuple[ExecutableInput, ...] = ()
) -> Step:
    function = ExecutableFunction(
        id="f", project_id=1, type="destination", hog=hog, inputs=list(inputs)
    )
    journal = RunJournal(started_at="2026-01-01T00:00:00+00:00", seed=1)
    request = StepRequest(
        function=function,
        globals={"event": {"uuid": "u"}},
        journal=journal,
        with_rendering=with_rendering,
    )
    return run_step(request)


def test_a_signer_is_read() -> None:
    signer = read_fetch(["https://a", {"aws_sigv4": {**SIGNER, "session_token": "t"}}]).aws_sigv4

    assert signer is not None
    assert (signer.access_key_id, signer.session_token) == ("a", "t")
    assert read_fetch(["https://a", {"aws_sigv4": {**SIGNER, "session_token": ""}}]).aws_sigv4
    assert read_fetch(["https://a", {"aws_sigv4": None}]).aws_sigv4 is None


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("yes", "object"),
        ({}, "access_key_id"),
        ({**SIGNER, "region": None}, "region"),
        ({**SIGNER, "service": ""}, "service"),
        ({**SIGNER, "service": "a\nb"}, "service"),
        ({**SIGNER, "session_token": 5}, "session_token"),
        ({**SIGNER, "regoin": "x"}, "region"),
        ({**SIGNER, "other": "x"}, "has no option other"),
        ({**SIGNER, "access_key_id_input": "missing"}, "an input as access_key_id_input"),
        ({**SIGNER, "secret_access_key_input": 5}, "an input as secret_access_key_input"),
        ({**SIGNER, "secret_access_key_input": "empty"}, "needs secret_access_key"),
    ],
)
def test_a_request_never_leaves_unsigned_by_mistake(given: object, reason: str) -> None:
    with pytest.raises(FetchRefused, match=reason):
        read_fetch(["https://a", {"aws_sigv4": given}], {"empty": ""})


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        ({"method": "GET", "headers": {}, "body": "x", "aws_sigv4": None}, []),
        ({"header": {"a": "b"}}, ["fetch ignores the option header. Did you mean `headers`?"]),
        ({"timeout": 5, "params": {}}, ["timeout", "params"]),
        ("GET", ["must be an object"]),
        ({"headers": {"a": "b", "c": None}}, []),
        ({"headers": {"X-Amount": 5, "a": "b", "X-Is-New": True}}, ["X-Amount", "X-Is-New"]),
        ({"headers": ["a: b"]}, ["headers: it must be an object"]),
        (None, []),
    ],
)
def test_options_that_are_not_known_are_told(options: object, reported: list[str]) -> None:
    ignored = ignored_options(["https://a", options])

    assert len(ignored) == len(reported)
    assert all(text in sentence for text, sentence in zip(reported, ignored, strict=True))


def test_an_unknown_option_is_a_warning_in_the_log() -> None:
    step = run("fetch('https://a', {'json': {'a': 1}})")

    assert step.outcome == "call"
    assert [(line.level, line.message) for line in step.logs] == [
        ("warn", "fetch ignores the option json.")
    ]


def test_a_bad_signer_is_an_error_of_the_program() -> None:
    step = run("try { fetch('https://a', {'aws_sigv4': {}}) } catch (e) { return e.message }")

    assert step.result == "aws_sigv4 needs access_key_id, a string without spaces"


def test_keys_of_a_signer_are_not_shown() -> None:
    secret = "{'access_key_id': 'AKID', 'secret_access_key': 'hush1', 'session_token': 'hush2',"
    hog = f"fetch('https://a', {{'aws_sigv4': {secret} 'region': 'r', 'service': 's'}}}})"
    step = run(hog, with_rendering=True)

    assert step.call is not None
    assert "AKID" in step.call.rendered
    assert "hush" not in step.call.rendered


def test_a_signer_names_inputs_so_that_the_program_does_not_read_secrets() -> None:
    signer = "{'access_key_id_input': 'who', 'secret_access_key_input': 'key',"
    hog = f"fetch('https://a', {{'aws_sigv4': {signer} 'region': 'r', 'service': 'kinesis'}}}})"
    inputs = (
        ExecutableInput(key="who", type="string", value="AKID"),
        ExecutableInput(key="key", type="string", value="hush1", secret=True),
    )
    step = run(hog, with_rendering=True, inputs=inputs)

    assert step.call is not None
    sent = step.call.request["aws_sigv4"]
    assert (sent["access_key_id"], sent["secret_access_key"]) == ("AKID", "hush1")
    assert sent["session_token"] is None
    assert "hush" not in step.call.rendered


CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0"


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        (
            f"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) {CHROME} Safari/537.36",
            ("Chrome", "126.0.0.0", "Mac OS X", "10.15.7", None, "Desktop"),
        ),
        (
            f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {CHROME} Safari/537.36 Edg/126.0.2592.68",
            ("Microsoft Edge", "126.0.2592.68", "Windows", "10", None, "Desktop"),
        ),
        (
            "Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko",
            ("Internet Explorer", "11.0", "Windows", "7", None, "Desktop"),
        ),
        (
            "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
            ("Firefox", "127.0", "Linux", None, None, "Desktop"),
        ),
        (
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 "
                "(KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"
            ),
            ("Mobile Safari", "17.5", "iOS", "17.5", "iPhone", "Mobile"),
        ),
        (
            (
                "Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 "
                "(KHTML, like Gecko) CriOS/126.0.6478.54 Mobile/15E148 Safari/604.1"
            ),
            ("Chrome iOS", "126.0.6478.54", "iOS", "16.6", "iPad", "Tablet"),
        ),
        (
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 "
                "(KHTML, like Gecko) Version/17.5 Safari/605.1.15"
            ),
            ("Safari", "17.5", "Mac OS X", "14.5", None, "Desktop"),
        ),
        (
            f"Mozilla/5.0 (Linux; Android 14; Pixel 8) {CHROME} Mobile Safari/537.36",
            ("Chrome", "126.0.0.0", "Android", "14", "Android", "Mobile"),
        ),
        (
            (
                "Mozilla/5.0 (Linux; Android 13; SM-X700) AppleWebKit/537.36 (KHTML, like Gecko) "
                "SamsungBrowser/25.0 Chrome/121.0.0.0 Safari/537.36"
            ),
            ("Samsung Internet", "25.0", "Android", "13", "Android", "Tablet"),
        ),
        (
            f"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) {CHROME} Safari/537.36 OPR/112.0.0.0",
            ("Opera", "112.0.0.0", "Chrome OS", "14541.0.0", None, "Desktop"),
        ),
        ("curl/8.5.0", (None,) * 6),
        ("", (None,) * 6),
        (None, (None,) * 6),
        (5, (None,) * 6),
    ],
)
def test_user_agents(agent: object, expected: tuple[str | None, ...]) -> None:
    assert tuple(parse_user_agent(agent).values()) == expected


def test_a_hostile_user_agent_takes_no_time() -> None:
    for piece in ("Mobile/", "Version/1.", "iPhone OS ", "Trident/", "1."):
        assert len(parse_user_agent(piece * 100_000)) == 6
