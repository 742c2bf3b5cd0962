"""Code that captures a first event, with the address and token of the project. Pure."""

import json
import shlex


def snippets(address: str, token: str) -> dict[str, str]:
    """Snippets by title, in the order to show them.

    Args:
        address: of the server as the browser sees it, ``https://hoglet.example.com``.
        token: of the project, ``phc_…``.
    """
    host, key = json.dumps(address), json.dumps(token)
    event = {"api_key": token, "event": "signup", "distinct_id": "user-1"}
    event_json = json.dumps(event | {"properties": {"plan": "pro"}})
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
            f"posthog.init({key}, {{ api_host: {host} }});\n"
            'posthog.capture("signup", { plan: "pro" });'
        ),
    }
