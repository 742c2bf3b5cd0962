"""Calls tools of ``arcade-posthog-api`` from an environment without hoglet.

Reads ``[[tool, arguments], ...]`` from standard input and prints what each gave, as JSON lines.
A text ``$$name.key`` in arguments stands for what an earlier call gave.
"""

import asyncio
import json
import sys
from typing import Any

from arcade_posthog_api import tools
from arcade_tdk import ToolContext

URL, KEY = sys.argv[1:]


def context() -> ToolContext:
    """The secrets that the tools ask for."""
    created = ToolContext(authorization=None, user_id="tests")
    created.set_secret("POSTHOG_SERVER_URL", URL)
    created.set_secret("POSTHOG_PERSONAL_API_KEY", KEY)
    return created


async def main() -> None:
    """Call them one after the other; an error is an answer, too."""
    given: dict[str, Any] = {}
    for name, arguments in json.load(sys.stdin):
        filled = {key: fill(value, given) for key, value in arguments.items()}
        try:
            answer = await getattr(tools, name)(context(), **filled)
        except Exception as error:  # noqa: BLE001 (the test looks at it)
            cause = error.__cause__ or error
            response = getattr(cause, "response", None)
            answer = {"error": str(error), "status": getattr(response, "status_code", None)}
        given[name] = answer.get("response_json")
        sys.stdout.write(json.dumps({"tool": name, **answer}) + "\n")


def fill(value: Any, given: dict[str, Any]) -> Any:
    """Bodies as text, modes as the tools want them, and what earlier calls gave."""
    if isinstance(value, dict):
        return json.dumps(filled_in(value, given))
    if isinstance(value, str) and value.startswith("$$"):
        name, key = value[2:].split(".")
        return given[name][key]
    if value == "execute":
        return tools.ToolMode(value)
    return value


def filled_in(value: Any, given: dict[str, Any]) -> Any:
    """A body with what earlier calls gave, also as keys."""
    if isinstance(value, dict):
        return {fill(key, given): filled_in(inner, given) for key, inner in value.items()}
    return fill(value, given) if isinstance(value, str) else value


asyncio.run(main())
