"""Code for callers: captures a first event, runs an endpoint. Pure."""

import json
import shlex

from hoglet.console.records.project import RequestBody


def snippets(address: str, token: str) -> dict[str, str]:
    """Snippets by title, in the order to show them.

    Args:
        address: the address of the server as the browser sees it, ``https://hoglet.example.com``.
        token: the token of the project, ``phc_…``.
    """
    host, key = json.dumps(address), json.dumps(token)
    event_json = json.dumps(first_event(token))
    return {
        "curl": (
            f"curl {shlex.quote(address + '/capture/')} \\\n"
            "  -H 'Content-Type: application/json' \\\n"
            f"  -d {shlex.quote(event_json)}"
        ),
        "Python": (
            "# pip install posthog\n"
            "from posthog import Posthog\n\n"
            f"posthog = Posthog({key}, host={host})\n"
            'posthog.capture("signup", distinct_id="user-1", properties={"plan": "pro"})\n'
            "posthog.flush()"
        ),
        "JavaScript": (
            "// npm install posthog-js\n"
            'import posthog from "posthog-js";\n\n'
            # posthog-js asks the host for its survey script even where surveys are off
            f"posthog.init({key}, {{ api_host: {host}, disable_surveys: true }});\n"
            'posthog.capture("signup", { plan: "pro" });'
        ),
    }


def first_event(token: str) -> RequestBody:
    """The event that the snippets capture, as the body of a request."""
    event = {"api_key": token, "event": "signup", "distinct_id": "user-1"}
    return event | {"properties": {"plan": "pro"}}


def call_snippets(url: str, body: RequestBody) -> dict[str, str]:
    r"""Code that runs an endpoint, by language; the key is in ``HOGLET_API_KEY``.

    Example:
        >>> calls = call_snippets("http://h/run", {"variables": {"who": "O'Neil"}})
        >>> calls["curl"].splitlines()[-1]
        '  -d \'{"variables":{"who":"O\'"\'"\'Neil"}}\''
    """
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return {
        "curl": _curl(url, text),
        "Python": _python(url, body),
        "TypeScript": _typescript(url, text),
    }


def _curl(url: str, text: str) -> str:
    return " \\\n  ".join(
        (
            f"curl {shlex.quote(url)}",
            '-H "Authorization: Bearer $HOGLET_API_KEY"',
            "-H 'Content-Type: application/json'",
            f"-d {shlex.quote(text)}",
        )
    )


def _python(url: str, body: RequestBody) -> str:
    return (
        "# pip install requests\n"
        "import os\n\nimport requests\n\n"
        "response = requests.post(\n"
        f"    {url!r},\n"
        "    headers={'Authorization': f\"Bearer {os.environ['HOGLET_API_KEY']}\"},\n"
        f"    json={body!r},\n"
        "    timeout=60,\n"
        ")\n"
        "response.raise_for_status()\n"
        "print(response.json()['results'])"
    )


def _typescript(url: str, text: str) -> str:
    return (
        f"const response = await fetch({json.dumps(url)}, {{\n"
        '  method: "POST",\n'
        "  headers: {\n"
        "    Authorization: `Bearer ${process.env.HOGLET_API_KEY}`,\n"
        '    "Content-Type": "application/json",\n'
        "  },\n"
        f"  body: JSON.stringify({text}),\n"
        "});\n"
        "if (!response.ok) throw new Error(await response.text());\n"
        "const { results } = await response.json();\n"
        "console.log(results);"
    )
