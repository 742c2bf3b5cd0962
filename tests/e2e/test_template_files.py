"""hoglet's own templates as a project's files, tested by ``hoglet test``."""

import subprocess
import sys
from pathlib import Path

from hoglet.functions.templates.registry import Templates
from hoglet.project_files.yaml_files import dump

CASES = {
    "webhook": """\
- name: sends event and person
  event: {event: paid, distinct_id: ada, properties: {plan: pro}}
  inputs: {url: https://hooks.example.com/x, method: PUT, body: {plan: '{event.properties.plan}'}}
  expect:
    status: success
    requests: [{method: PUT, url: https://hooks.example.com/x, body: {plan: pro}}]
- name: fails for a redirect
  event: {event: paid}
  inputs: {url: https://hooks.example.com/x}
  fetch: [{status: 302, body: moved}]
  expect: {status: failed, error: /status 302/}
""",
    "discord": """\
- name: posts
  event: {event: paid}
  inputs: {webhookUrl: https://discord.com/api/webhooks/1/x, content: 'Saw {event.event}'}
  expect:
    requests: [{url: https://discord.com/api/webhooks/1/x, body: {content: Saw paid}}]
- name: refuses other hosts
  event: {event: paid}
  inputs: {webhookUrl: https://example.com/api/webhooks/1/x, content: x}
  expect: {status: failed, requests: [], error: /Discord webhook/}
""",
    "filter-properties": """\
- name: empties nested properties
  event: {event: paid, properties: {a: {b: 1, c: 2}, d: 3}}
  inputs: {propertiesToFilter: 'a.b, d, x.y'}
  expect: {event: {properties: {a: {b: null, c: 2}, d: null}}}
""",
    "url-masking": """\
- name: masks the parameters that are named
  event: {event: a, properties: {$current_url: 'https://x.com/p?token=1&q=2#top'}}
  inputs: {urlProperties: {$current_url: token}, maskWith: HIDDEN}
  expect: {event: {properties: {$current_url: 'https://x.com/p?token=HIDDEN&q=2#top'}}}
""",
}


def test_templates_pass_their_cases(tmp_path: Path) -> None:
    templates = Templates()
    (tmp_path / "hoglet.yaml").write_text("name: Templates\n")
    for name, cases in CASES.items():
        template = templates.find(f"template-{name}")
        assert template is not None
        folder = tmp_path / "functions" / name
        folder.mkdir(parents=True)
        settings = {"type": template.type, "name": name, "inputs_schema": template.inputs_schema}
        (folder / "function.yaml").write_text(dump(settings))
        (folder / "code.hog").write_text(template.code)
        (folder / "tests.yaml").write_text(cases)

    command = [sys.executable, "-m", "hoglet.cli.main", "test", "-C", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.splitlines()[-1] == "6 passed, 0 failed"
