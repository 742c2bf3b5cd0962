"""``hoglet init``: creates a project folder with an example function, endpoint and tests."""

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

from hoglet.cli.error_handling import BadUsage

_TOKEN = "WELCOME_WEBHOOK_TOKEN"  # noqa: S105 (the name of a variable)
_PLANS = (
    ("ada", "pro", "2026-01-05T10:00:00Z"),
    ("bob", "pro", "2026-01-01T10:00:00Z"),
    ("cyd", "team", "2026-01-05T11:00:00Z"),
    ("dan", "pro", "2025-12-01T10:00:00Z"),
)
_EVENTS = "".join(
    json.dumps(
        {
            "event": "plan_chosen",
            "distinct_id": person,
            "timestamp": at,
            "properties": {"plan": plan},
        }
    )
    + "\n"
    for person, plan, at in _PLANS
)
_FILES = {
    "hoglet.yaml": """\
name: {name}
timezone: UTC
""",
    "functions/welcome-webhook/function.yaml": """\
type: destination
name: Welcome webhook
description: Posts each new plan to a webhook.
enabled: false
filters:
  events:
    - id: plan_chosen
      type: events
inputs_schema:
  - key: url
    type: string
    label: Webhook URL
    required: true
  # the value of a secret is never written: push takes it from the variable that is named below
  - key: token
    type: string
    label: Token
    secret: true
inputs:
  url:
    value: https://hooks.example.com/x
  token:
    secret: env:WELCOME_WEBHOOK_TOKEN
""",
    "functions/welcome-webhook/code.hog": """\
if (event.properties.is_test) {
  print('not posted: a test')
  return
}
let answer := fetch(inputs.url, {
  'method': 'POST',
  'headers': {'Content-Type': 'application/json', 'Authorization': f'Bearer {inputs.token}'},
  'body': {'text': f'{event.distinct_id} chose {event.properties.plan}'}
})
if (answer.status >= 400) {
  throw Error(f'The webhook answered {answer.status}')
}
print('posted')
""",
    "functions/welcome-webhook/tests.yaml": """\
- name: posts a new plan, retrying while the webhook is busy
  event: {event: plan_chosen, distinct_id: ada, properties: {plan: pro}}
  inputs: {url: https://hooks.example.com/test}
  fetch:
    - {status: 503}
    - {status: 200, body: {ok: true}}
  expect:
    matched: true
    status: success
    requests:
      - method: POST
        url: https://hooks.example.com/test
        body: {text: ada chose pro}
    logs: [/posted/]

- name: ignores test events
  event: {event: plan_chosen, distinct_id: bob, properties: {plan: pro, is_test: true}}
  expect:
    status: success
    requests: []

- name: ignores other events
  event: {event: $pageview, distinct_id: bob}
  expect: {matched: false}
""",
    "endpoints/by_plan.yaml": """\
description: How often each plan was chosen
query: |-
  select event, count() as events
  from events
  where properties.plan = {variables.plan} and timestamp > now() - interval 7 day
  group by event
  order by event
""",
    "endpoints/by_plan.tests.yaml": """\
- name: counts the last seven days
  now: 2026-01-05T12:00:00Z
  events: fixtures/plans.ndjson
  variables: {plan: pro}
  expect:
    columns: [event, events]
    rows: [[plan_chosen, 2]]
""",
    "endpoints/fixtures/plans.ndjson": _EVENTS,
    "variables.yaml": """\
plan:
  type: String
  default: pro
""",
}


def init(
    folder: Annotated[Path, typer.Argument(help="Folder of the project; created if necessary.")] = (
        Path()
    ),
    name: Annotated[
        str, typer.Option("--name", help="Name of the project; defaults to the folder's.")
    ] = "",
) -> None:
    """Create a project folder with an example function, endpoint and tests."""
    import yaml

    if (folder / "hoglet.yaml").exists():
        raise BadUsage(f"{folder} is already a project: it has a hoglet.yaml.")
    if folder.exists() and not folder.is_dir():
        raise BadUsage(f"{folder} is a file; specify a folder.")
    present = [path for path in _FILES if (folder / path).exists()]
    if present:
        raise BadUsage(f"{folder / present[0]} already exists; specify an empty folder.")
    called = yaml.safe_dump(name or folder.resolve().name or "project", width=1000)
    called = called.removesuffix("...\n").strip()
    try:
        for path, text in _FILES.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            given = text.replace("{name}", called) if path == "hoglet.yaml" else text
            (folder / path).write_text(given, encoding="utf-8")
    except OSError as error:
        raise BadUsage(f"{folder} cannot be written: {error.strerror}.") from None
    print(f"wrote a project to {folder}")
    enter = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(str(folder))}, "
    print(f"next: {enter}hoglet test, hoglet login, and {_TOKEN}=… hoglet push")
