"""What a program may ask of its host: print, fetch, postHogCapture, sendEmail.

Source: spec/hog-functions.md section 13.3.
"""

from typing import Any

import msgspec
import orjson

from hoglet.functions.running.fetching import FetchRefused, read_fetch

MAX_PRINTS = 25
MAX_CAPTURE_DEPTH = 10
DEPTH_PROPERTY = "$hog_function_execution_count"


class HostRefused(Exception):
    """The program asked for something it may not have; ends the run with this message."""


class Host:
    """The host of one run; collects log lines and captures.

    Args:
        globals_: of the run.
        has_email: ``sendEmail`` exists.
        may_call: async functions and ``postHogCapture`` exist (not in transformations).
    """

    def __init__(
        self, globals_: dict[str, Any], *, has_email: bool = False, may_call: bool = True
    ) -> None:
        self.event: dict[str, Any] = globals_.get("event") or {}
        self.lines: list[tuple[str, str]] = []
        self.captures: list[dict[str, Any]] = []
        self.async_names = frozenset(
            {"fetch", *(["sendEmail"] if has_email else [])} if may_call else ()
        )
        self.may_call = may_call
        self._prints = 0

    def log(self, level: str, message: str) -> None:
        """Add a line of hoglet's own."""
        self.lines.append((level, message))

    def print(self, *values: Any) -> None:
        """``print(...)``; the 25th call says that no more is collected."""
        self._prints += 1
        if self._prints < MAX_PRINTS:
            self.log("info", ", ".join(map(_printed, values)))
        elif self._prints == MAX_PRINTS:
            self.log(
                "warn",
                f"No more logs are collected for event {self.event.get('uuid')}: "
                f"a run may print {MAX_PRINTS - 1} times",
            )

    def capture(self, *arguments: Any) -> None:
        """``postHogCapture({event, distinct_id?, properties?})``.

        Raises:
            HostRefused: no event name, or called a second time.
        """
        asked = arguments[0] if arguments and isinstance(arguments[0], dict) else {}
        name = asked.get("event")
        if not name or not isinstance(name, str):
            raise HostRefused("postHogCapture needs an object with an event name")
        if self.captures:
            raise HostRefused("postHogCapture can be called only once in a run")
        depth = _depth(self.event)
        if depth >= MAX_CAPTURE_DEPTH:
            self.log("warn", f"postHogCapture refused: {depth} functions in a row captured already")
            return
        properties = asked.get("properties")
        self.captures.append(
            {
                "event": name,
                "distinct_id": str(asked.get("distinct_id") or self.event.get("distinct_id") or ""),
                "properties": {
                    **(properties if isinstance(properties, dict) else {}),
                    DEPTH_PROPERTY: depth + 1,
                },
            }
        )

    def read_call(self, name: str, arguments: list[Any]) -> dict[str, Any]:
        """The normalised request of an async call.

        Raises:
            HostRefused: the arguments make no request.
        """
        if name == "fetch":
            try:
                return msgspec.to_builtins(read_fetch(arguments))
            except FetchRefused as error:
                raise HostRefused(str(error)) from None
        return arguments[0] if arguments and isinstance(arguments[0], dict) else {}


def _depth(event: dict[str, Any]) -> int:
    count = (event.get("properties") or {}).get(DEPTH_PROPERTY)
    return count if isinstance(count, int) and not isinstance(count, bool) else 0


def _printed(value: Any) -> str:
    if isinstance(value, str):
        return value
    return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
