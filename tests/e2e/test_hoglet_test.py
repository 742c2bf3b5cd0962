"""``hoglet test``: cases in files run without a server; failures say what to change."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner, Result

from hoglet.cli.main import app
from support.hoglet_process import run_hoglet

PLANS = "\n".join(
    [
        *(
            f'{{"event": "chosen", "timestamp": "{at}", "properties": {{"plan": "{plan}"}}}}'
            for at, plan in (
                ("2026-01-05T22:00:00Z", "pro"),
                ("2026-01-05T00:00:00Z", "pro"),
                ("2026-01-03T00:00:00Z", "pro"),
                ("2026-01-05T22:00:00Z", "team"),
            )
        ),
        "",
    ]
)
FILES = {
    "hoglet.yaml": "name: Shop\ntimezone: Europe/Berlin\n",
    "actions.yaml": "- name: Bought\n  steps:\n    - event: paid\n",
    "cohorts.yaml": """\
- name: Insiders
  filters:
    properties:
      type: AND
      values:
        - {type: person, key: email, value: '@x.com', operator: icontains}
""",
    "variables.yaml": "plan: {type: String, default: pro}\n",
    "functions/hook/function.yaml": """\
name: Hook
filters:
  actions:
    - {type: actions, action: Bought}
  properties:
    - {type: event, key: amount, value: 10, operator: gt}
inputs_schema:
  - {key: url, type: string}
  - {key: token, type: string, secret: true}
inputs:
  url: {value: 'https://example.com/{event.properties.plan}'}
  token: {secret: env:HOOK_TOKEN}
retry: {max_attempts: 3}
""",
    "functions/hook/code.hog": """\
let total := 0
for (let n in [1, 2, 3]) {
  total := total + n
}
if (event.properties.silent) {
  return 'nothing'
}
let answer := fetch(inputs.url, {
  'headers': {'X-Token': inputs.token, 'X-Total': toString(total)},
  'body': {'who': person.properties.email, 'now': toString(now())}
})
print('answered', answer.status)
if (answer.status == 404) {
  throw Error('no such hook')
}
return answer.body
""",
    "functions/hook/tests.yaml": """\
# every kind of expectation
- name: posts what was bought
  event: {event: paid, distinct_id: ada, properties: {amount: 11, plan: pro}}
  person: {properties: {email: ada@x.com}}
  inputs: {token: s3cret}
  now: 2026-02-03T04:05:06Z
  fetch:
    - {status: 503}
    - {status: 429, headers: {Retry-After: 120}}
    - {status: 200, body: {ok: true}}
  expect:
    matched: true
    status: success
    result: {ok: true}
    requests:
      - method: POST
        url: https://example.com/pro
        headers: {X-Token: s3cret, X-Total: '6'}
        body: {who: ada@x.com, now: '2026-02-03T04:05:06.000Z'}
    logs: [/answered.*200/, 'Attempt 1 of fetch failed']
- name: gives up after three attempts
  event: {event: paid, properties: {amount: 11}}
  fetch: [{status: 500}, {error: refused}, {status: 502, body: busy}]
  expect: {status: failed, error: /status 502/, requests: [{}]}
- name: answers are 200 and an empty object unless the case says otherwise
  event: {event: paid, properties: {amount: 11, plan: x}}
  expect: {result: {}, requests: [{url: https://example.com/x}]}
- name: fails on its own
  event: {event: paid, properties: {amount: 11}}
  fetch: [{status: 404}]
  expect: {status: failed, error: no such hook}
- name: makes no request
  event: {event: paid, properties: {amount: 11, silent: true}}
  expect: {status: success, requests: [], result: nothing, logs: []}
- name: needs the action
  event: {event: looked, properties: {amount: 11}}
  expect: {matched: false, status: filtered, requests: []}
- name: needs the amount
  event: {event: paid, properties: {amount: 10}}
  expect: {matched: false}
""",
    "functions/drop/function.yaml": "type: transformation\nname: Drop\n",
    "functions/drop/code.hog": """\
if (event.properties.cat) {
  return event
}
if (event.properties.bot) { return null }
if (event.properties.dog) {
  print('woof')
}
let marked := event
marked.properties.seen := true
return marked
""",
    "functions/drop/tests.yaml": """\
- name: drops bots
  event: {event: a, properties: {bot: true}}
  expect: {event: null, status: success}
- name: marks people
  event: {event: a, properties: {x: 1}}
  expect: {event: {event: a, properties: {seen: true}}}
""",
    "functions/parts/function.yaml": """\
name: Parts
inputs_schema: []
mappings:
  - name: one
    filters: {events: [{id: a, type: events}]}
    inputs_schema: [{key: to, type: string}]
    inputs: {to: {value: first}}
  - name: two
    filters: {events: [{id: a, type: events}, {id: b, type: events}]}
    inputs_schema: [{key: to, type: string}]
    inputs: {to: {value: second}}
""",
    "functions/parts/code.hog": """\
postHogCapture({'event': 'told', 'distinct_id': 'x', 'properties': {'to': inputs.to}})
print(inputs.to)
""",
    "functions/parts/tests.yaml": """\
- name: both
  event: {event: a}
  expect:
    logs: [first, second]
    captures:
      - {event: told, properties: {to: first}}
      - {event: told, properties: {to: second}}
- name: one
  event: {event: b}
  expect: {logs: [second], captures: [{event: told}]}
- name: none
  event: {event: c}
  expect: {status: skipped, matched: false}
""",
    "endpoints/by_plan.sql": """\
select event, count() as n, toString(toDate(now())) as day
from events
where properties.plan = {variables.plan} and timestamp > now() - interval 1 day
group by event
""",
    "endpoints/by_plan.yaml": "description: by plan\n",
    "endpoints/by_plan.tests.yaml": """\
- name: counts the last day of the project's zone
  now: 2026-01-05T23:30:00Z
  events: fixtures/plans.ndjson
  variables: {plan: pro}
  expect:
    columns: [event, n, day]
    rows: [[chosen, 2, '2026-01-06']]
- name: has a default
  events:
    - {event: chosen, properties: {plan: pro}}
  expect: {rows: [[chosen, 1, /^2026/]]}
- name: knows nothing of other cases
  expect: {rows: []}
- name: refuses what it does not know
  variables: {colour: red}
  expect: {error: /colour/}
""",
    "endpoints/fixtures/plans.ndjson": PLANS,
    "endpoints/insiders.yaml": "query: select count() from persons where id in cohort 'Insiders'\n",
    "endpoints/bought.yaml": """\
query:
  kind: TrendsQuery
  series: [{kind: ActionsNode, action: Bought}]
  dateRange: {date_from: -1d}
""",
    "endpoints/bought.tests.yaml": """\
- name: counts the action
  events: [{event: paid}, {event: other}]
  expect: {rows: [{label: Bought, count: 1}]}
""",
}  # fmt: skip


def project(folder: Path, **changed: str | None) -> Path:
    for name, text in (FILES | changed).items():
        if text is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    return folder


class Ran(NamedTuple):
    exit_code: int
    stdout: str
    stderr: str


def run(folder: Path, *words: str) -> Ran:
    """In a process of its own: there is one embedded warehouse for each."""
    variables = {"HOGLET_DATABASE_URL": "postgresql://nobody@127.0.0.1:9/none", "COLUMNS": "200"}
    ended = run_hoglet("test", "-C", str(folder), *words, env=os.environ | variables)
    return Ran(ended.returncode, ended.stdout, ended.stderr)


def refuse(folder: Path, *words: str) -> Result:
    """A run that ends before anything is opened."""
    return CliRunner().invoke(app, ["test", "-C", str(folder), *words])


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran, Path]:
    """A project whose cases all pass, its run, and the JUnit file of that."""
    folder = project(tmp_path_factory.mktemp("shop"))
    report = folder / "reports" / "junit.xml"
    return folder, run(folder, "--coverage", "--junit", str(report)), report


def test_all_cases_pass(passed: tuple[Path, Ran, Path]) -> None:
    _, ran, _ = passed
    assert ran.exit_code == 0, ran.stdout + ran.stderr
    assert ran.stdout.splitlines()[-1] == "17 passed, 0 failed"


def test_lines_that_did_not_run_are_named(passed: tuple[Path, Ran, Path]) -> None:
    lines = [line.split(maxsplit=1) for line in passed[1].stdout.splitlines() if "%" in line]
    coverage = {Path(rest.split()[0]).parent.name: (share, rest) for share, rest in lines}

    assert [coverage[name][0] for name in ("hook", "drop", "parts")] == ["100%", "75%", "100%"]
    assert coverage["drop"][1].endswith("lines that did not run: 2, 6")
    assert "did not run" not in coverage["hook"][1]


def test_the_report_is_junit(passed: tuple[Path, Ran, Path]) -> None:
    root = ET.fromstring(passed[2].read_bytes())  # noqa: S314 (our own)
    assert (root.tag, root.get("tests"), root.get("failures")) == ("testsuites", "17", "0")
    assert len(root.findall("./testsuite/testcase")) == 17


WRONG = """\
- name: another url and body
  event: {event: paid, properties: {amount: 11, plan: pro}}
  now: 2026-02-03T04:05:06Z
  expect:
    requests:
      # the customer's
      - {url: https://example.com/team, body: {who: null, now: /2026/}}
    status: success
- name: no line like it
  event: {event: paid, properties: {amount: 11, silent: true}}
  expect: {logs: [/posted/], matched: true}
- name: matches after all
  event: {event: paid, properties: {amount: 11, silent: true}}
  expect: {matched: false}
- name: is right
  event: {event: paid, properties: {amount: 11, silent: true}}
  expect: {result: nothing}
"""
WRONG_ROWS = """\
- name: other rows
  events: [{event: chosen, properties: {plan: pro}}]
  expect:
    rows: [[chosen, 2, '2026-01-05']]
"""


@pytest.mark.slow
def test_a_reader_that_has_enough_is_no_error(tmp_path: Path) -> None:
    folder = project(tmp_path)
    command = [sys.executable, "-m", "hoglet", "test", str(folder / "functions/drop")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    _, says = process.communicate(timeout=120)

    assert (process.returncode, says) == (1, b"")


@pytest.mark.slow
def test_a_failure_shows_what_differs_and_can_be_taken_over(tmp_path: Path) -> None:
    wrong = {
        "functions/hook/tests.yaml": WRONG,
        "endpoints/by_plan.tests.yaml": WRONG_ROWS,
        "endpoints/bought.tests.yaml": None,
        "functions/drop/tests.yaml": None,
        "functions/parts/tests.yaml": None,
    }
    folder = project(tmp_path, **wrong)

    failed = run(folder, "--junit", str(tmp_path / "junit.xml"))

    assert failed.exit_code == 1, failed.stderr
    assert failed.stdout.splitlines()[-1] == "1 passed, 4 failed"
    assert "tests.yaml:1: another url and body" in failed.stdout
    for line in (
        "requests[0].url:",
        '      - "https://example.com/team"',
        '      + "https://example.com/pro"',
        'logs: no line matches "/posted/"',
        '      - ["chosen", 2, "2026-01-05"]',
        '      + ["chosen", 1, "2026-01-05"]',
        "line 3: total = 1",
    ):
        assert line in failed.stdout
    root = ET.parse(tmp_path / "junit.xml").getroot()  # noqa: S314 (our own)
    assert len(root.findall(".//failure")) == 4

    assert "completed in" not in failed.stdout  # with figures that differ between two runs

    only = run(folder, str(folder / "functions/hook"), "-k", "IS RIGHT", "--coverage")
    assert (only.exit_code, only.stdout.splitlines()[-1]) == (0, "1 passed, 0 failed")
    assert only.stdout.count("%") == 1  # of the function that was asked for
    updated = run(folder, "--update")
    assert updated.exit_code == 0
    text = (folder / "functions/hook/tests.yaml").read_text()
    assert "https://example.com/pro" in text
    assert "now: /2026/" in text
    assert "is right" in text
    assert run(folder).stdout.splitlines()[-1] == "5 passed, 0 failed"


BAD = [
    (
        "functions/hook/tests.yaml",
        "- name: a\n  expct: {}\n",
        "tests.yaml:2: expct is unknown. Did",
    ),
    ("functions/hook/tests.yaml", "- name: a\n  event: {event: x}\n", "expect is missing"),
    (
        "functions/hook/tests.yaml",
        "- expect: {matched: true}\n",
        "tests.yaml:1: a case needs a name",
    ),
    ("functions/hook/tests.yaml", "a: 1\n", "a test file must be a list"),
    ("functions/hook/tests.yaml", "- name: [\n", "tests.yaml:2"),
    (
        "functions/hook/tests.yaml",
        "- name: a\n  event: {event: x}\n  expect: {status: good}\n",
        "tests.yaml:3: expect.status must be one of",
    ),
    (
        "functions/hook/tests.yaml",
        "- name: a\n  event: {event: x}\n  fetch: [200]\n  expect: {matched: true}\n",
        "tests.yaml:3: fetch must be a list of responses",
    ),
    (
        "functions/hook/tests.yaml",
        "- name: a\n  event: {event: x}\n  fetch: [{times: 0}]\n  expect: {matched: true}\n",
        "tests.yaml:3: times of a response must be a number from 1 to 100",
    ),
    (
        "functions/hook/tests.yaml",
        "- name: a\n  event: {event: x}\n  expect: {request: []}\n",
        "tests.yaml:3: expect.request is unknown. Did you mean requests?",
    ),
    (
        "functions/hook/tests.yaml",
        "- {name: a, event: {event: x}, expect: {matched: true}}\n" * 2,
        "two cases have the name a",
    ),
    ("functions/hook/code.hog", "let x :=\n", "code.hog:1:"),
    ("functions/hook/function.yaml", "colour: red\n", "function.yaml:1: unknown colour"),
    (
        "endpoints/by_plan.tests.yaml",
        "- name: a\n  events: none.ndjson\n  expect: {rows: []}\n",
        "by_plan.tests.yaml:2: there is no file",
    ),
    ("endpoints/fixtures/plans.ndjson", '{"event": "a"}\nnot json\n', "plans.ndjson:2"),
    (
        "endpoints/by_plan.tests.yaml",
        "- name: a\n  now: yesterday\n  expect: {rows: []}\n",
        "by_plan.tests.yaml:2: now must be a time",
    ),
    (
        "functions/hook/tests.yaml",
        "- name: a\n  event: {event: x}\n  groups: {company: 5}\n  expect: {matched: true}\n",
        "tests.yaml:3: groups.company must be a mapping",
    ),
    (
        "functions/hook/tests.yaml",
        "- name: a\n  event: {event: x}\n  groups: {a: {properties: []}}\n  expect: {logs: []}\n",
        "tests.yaml:3: groups.a.properties must be a mapping",
    ),
    (
        "functions/hook/tests.yaml",
        "- name: a\n  event: {event: x}\n  person: {properties: [1]}\n  expect: {matched: true}\n",
        "tests.yaml:3: person.properties must be a mapping",
    ),
    (
        "functions/hook/tests.yaml",
        "- name: a\n  event: {event: x}\n  fetch: [{headers: [1]}]\n  expect: {matched: true}\n",
        "tests.yaml:3: headers of a response must be a mapping",
    ),
    (
        "functions/hook/tests.yaml",
        "- name: a\n  event: {event: x}\n  fetch: [{body: !!binary a}]\n  expect: {logs: []}\n",
        "tests.yaml:3: could not determine a constructor",
    ),
    (
        "functions/hook/tests.yaml",
        "- name: a\n  event: {event: x}\n  now: 0001-01-01T00:00:00+14:00\n  expect: {logs: []}\n",
        "tests.yaml:3: now must be a time",
    ),
    (
        "functions/hook/tests.yaml",
        "- name: a\n  event: {event: x}\n  now: 2026-02-30\n  expect: {matched: true}\n",
        "tests.yaml:3: now must be a time",
    ),
    (
        "functions/hook/tests.yaml",
        '- name: a\n  event: {event: x}\n  now: null\n  expect: {logs: ["/[/"]}\n',
        "tests.yaml:4: /[/ is not a regular expression",
    ),
    (
        "functions/hook/tests.yaml",
        "- name: a\n  event: {event: x}\n  now: null\n  expect: {requests: [{body: {a: [/(/]}}]}\n",
        "tests.yaml:4: /(/ is not a regular expression",
    ),
    (
        "functions/hook/tests.yaml",
        "- name: a\n  event: {event: x}\n  now: null\n  expect: {requests: [{methd: POST}]}\n",
        "tests.yaml:4: expect.methd is unknown. Did you mean method?",
    ),
    (
        "functions/hook/tests.yaml",
        "- name: a\n  event: {event: x}\n  now: null\n  expect: {requests: [1]}\n",
        "tests.yaml:4: expect.requests must be a list of mappings",
    ),
    (
        "functions/hook/tests.yaml",
        "- name: a\n  event: {event: x, properties: [1]}\n  expect: {matched: true}\n",
        "tests.yaml:2: event.properties must be a mapping",
    ),
    (
        "endpoints/by_plan.tests.yaml",
        "- name: a\n  variables: [1]\n  expect: {rows: []}\n",
        "by_plan.tests.yaml:2: variables must be a mapping",
    ),
    (
        "endpoints/by_plan.tests.yaml",
        "- name: a\n  timezone: Mars/Olympus\n  expect: {rows: []}\n",
        "by_plan.tests.yaml:2: timezone must be the name of a time zone",
    ),
    (
        "endpoints/by_plan.tests.yaml",
        "- name: a\n  events: [{event: a, distinct_id: ''}]\n  expect: {rows: []}\n",
        "by_plan.tests.yaml:2: the distinct_id of an event must be a string",
    ),
    ("endpoints/fixtures/plans.ndjson", '{"event": "a"}\n5\n', "plans.ndjson:2: every event"),
    ("endpoints/fixtures/plans.ndjson", "[" * 100_000, "plans.ndjson:1: it is not JSON"),
    (
        "endpoints/fixtures/plans.ndjson",
        '\n{"event": "a", "properties": []}\n',
        "plans.ndjson:2: properties of an event must be a mapping",
    ),
    ("cohorts.yaml", "- name: a\n- nme: b\n", "cohorts.yaml:2: unknown nme"),
]
REFUSED = [
    (
        "cohorts.yaml",
        "\n- name: a\n  filters: {properties: {type: XX, values: []}}\n",
        "cohorts.yaml:2: filters__properties__type",
    ),
    ("actions.yaml", "- name: a\n  steps: nothing\n", "actions.yaml:1: steps"),
]
"""What the application refuses, not the reader of the files."""


@pytest.mark.parametrize(("name", "text", "says"), BAD)
def test_a_wrong_file_is_named_with_its_line(
    tmp_path: Path, name: str, text: str, says: str
) -> None:
    ran = refuse(project(tmp_path, **{name: text}))

    assert ran.exit_code == 2
    assert says in ran.stderr


@pytest.mark.parametrize(("name", "text", "says"), REFUSED)
def test_what_the_application_refuses_is_named_with_its_line(
    tmp_path: Path, name: str, text: str, says: str
) -> None:
    ran = run(project(tmp_path, **{name: text}))

    assert ran.exit_code == 2, ran.stderr
    assert says in ran.stderr


def test_a_path_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    folder = project(tmp_path)
    for path in (folder / "nowhere", folder / "hoglet.yaml"):
        ran = refuse(folder, str(path))
        assert (ran.exit_code, str(path) in ran.stderr.replace("\n", "")) == (2, True)


def test_a_function_that_cannot_be_saved_fails_its_cases(tmp_path: Path) -> None:
    shutil.rmtree(project(tmp_path) / "endpoints")
    settings = "name: a\ninputs_schema: [{key: url, type: string, required: true}]\n"
    (tmp_path / "functions/drop/function.yaml").write_text(settings)

    ran = run(tmp_path, str(tmp_path / "functions" / "drop"))

    assert ran.exit_code == 1
    assert "the function cannot be used: inputs__url" in ran.stdout


def test_cases_of_functions_do_not_open_the_warehouse(tmp_path: Path) -> None:
    folder = tmp_path / "functions" / "say"
    folder.mkdir(parents=True)
    (tmp_path / "hoglet.yaml").write_text("name: Say\n")
    (folder / "function.yaml").write_text("type: destination\nname: Say\n")
    (folder / "code.hog").write_text("print('hello')\n")
    (folder / "tests.yaml").write_text(
        "- name: greets\n  event: {event: paid}\n  expect: {logs: [/hello/]}\n"
    )
    command = [sys.executable, "-X", "importtime", "-m", "hoglet", "test"]
    ended = subprocess.run(
        [*command, "-C", str(tmp_path)], capture_output=True, text=True, check=False
    )
    imported = {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()}

    assert ended.stdout.splitlines()[-1] == "1 passed, 0 failed", ended.stdout + ended.stderr
    assert "hoglet.warehouse.clickhouse" in imported
    assert "chdb" not in imported


WITHOUT_EXTRAS = """
import sys
sys.modules.update(dict.fromkeys(["aiosmtplib", "psycopg", "nats", "opentelemetry.sdk"]))
from hoglet.cli.entry import main
main()
"""


@pytest.mark.slow
def test_the_extras_are_not_needed(tmp_path: Path) -> None:
    """``pip install hoglet`` is enough, also for cases that send mail."""
    folder = tmp_path / "functions" / "mail"
    folder.mkdir(parents=True)
    (tmp_path / "hoglet.yaml").write_text("name: a\n")
    (folder / "function.yaml").write_text("name: Mail\n")
    code = "let sides := {'from': {'email': 'a@x.com'}, 'to': {'email': 'b@x.com'}}\n"
    code += "sendEmail({'from': sides.from, 'to': sides.to, 'subject': 's', 'text': 't'})\n"
    (folder / "code.hog").write_text(code)
    (folder / "tests.yaml").write_text(
        "- name: sends\n  event: {event: a}\n  expect: {status: success, emails: [{subject: s}]}\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS, "test", "-C", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
    assert ran.stdout.splitlines()[-1] == "1 passed, 0 failed"
