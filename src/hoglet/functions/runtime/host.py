"""The host functions of programs: print, fetch, postHogCapture, sendEmail, helpers.

Source: docs/spec/hog-functions.md#133-functions and docs/spec/hog-functions.md#136-transformations.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import msgspec

from hoglet.functions.executable.model import HostConfig
from hoglet.functions.json_types import EventGlobal, HostRequest
from hoglet.functions.runtime.bot_detection import open_bot_detector
from hoglet.functions.runtime.email import EmailRefused, read_email
from hoglet.functions.runtime.fetch import (
    FetchRefused,
    FetchRequest,
    ignored_options,
    read_fetch,
)
from hoglet.functions.runtime.geoip import GeoRecord, open_geoip
from hoglet.functions.runtime.loop_guard import (
    DEPTH_PROPERTY,
    MAX_DEPTH,
    depth_of,
    is_own_capture,
    with_depth,
)
from hoglet.functions.runtime.messages import CapturedEvent
from hoglet.functions.runtime.user_agent import parse_user_agent
from hoglet.hog.runtime.errors import HostFailure
from hoglet.kit.json import dump_json, is_array, is_object, object_at

MAX_PRINTS = 25
HELPERS = frozenset(
    {
        "geoipLookup",
        "cleanNullValues",
        "isKnownBotUserAgent",
        "isKnownBotIp",
        "parseUserAgent",
    }
)
_NOTHING = HostConfig()
HOST_FUNCTIONS = HELPERS | {"print", "postHogCapture"}


class HostRefused(Exception):
    """The program called a host function incorrectly; thrown inside the program."""


class Host:
    """The host of a run; collects log lines and captures.

    Args:
        run: the globals of the run; ``inputs`` are the values of the function's inputs.
        facilities: the host configuration.
        may_call: ``fetch``, ``sendEmail`` and ``postHogCapture`` are available (not in
            transformations).
        printed: ``print`` calls in the replayed part.
        captured: ``postHogCapture`` was called in the replayed part.
    """

    def __init__(
        self,
        run: Mapping[str, Any],
        *,
        facilities: HostConfig = _NOTHING,
        may_call: bool = True,
        printed: int = 0,
        captured: bool = False,
    ) -> None:
        self._site_url = str(object_at(run, "project").get("url") or "")
        self._inputs = object_at(run, "inputs")
        self.begin(object_at(run, "event"), printed=printed, captured=captured)
        names = {"fetch", "sendEmail"} if facilities.has_email else {"fetch"}
        self.async_names = frozenset(names if may_call else ())
        helpers = _helpers(facilities)
        own = {**helpers, "postHogCapture": self.capture} if may_call else helpers
        self.functions: Mapping[str, Callable[..., Any]] = MappingProxyType(own)

    def begin(self, event: EventGlobal, *, printed: int = 0, captured: bool = False) -> None:
        """Start a run; a host can serve the runs of a function one after another."""
        self.event = event
        self.lines: list[tuple[str, str]] = []
        self.captures: list[CapturedEvent] = []
        self.printed = printed
        self.captured = captured

    def log(self, level: str, message: str) -> None:
        """Add one of hoglet's own log lines."""
        self.lines.append((level, message))

    def print(self, *values: Any) -> None:
        """``print(...)``; the 25th call logs that no more are collected."""
        self.printed += 1
        if self.printed < MAX_PRINTS:
            self.log("info", ", ".join(map(_printed, values)))
        elif self.printed == MAX_PRINTS:
            self.log(
                "warn",
                f"No more logs are collected for event {self.event.get('uuid')}: "
                f"a run can print {MAX_PRINTS - 1} times",
            )

    def capture(self, *arguments: Any) -> None:
        """``postHogCapture({event, distinct_id?, properties?})``.

        Raises:
            HostFailure: no event name, or called twice.
        """
        requested = arguments[0] if arguments and is_object(arguments[0]) else {}
        name = requested.get("event")
        if not name or not isinstance(name, str):
            raise HostFailure("postHogCapture needs an object with an event name")
        if self.captured:
            raise HostFailure("postHogCapture can be called only once in a run")
        self.captured = True
        depth = depth_of(self.event)
        if depth >= MAX_DEPTH:
            self.log(
                "warn",
                f"postHogCapture refused: {depth} functions in a row already captured an event",
            )
            return
        distinct_id = str(requested.get("distinct_id") or self.event.get("distinct_id") or "")
        if not distinct_id:  # webhooks have none
            raise HostFailure("postHogCapture needs a distinct_id")
        properties = requested.get("properties")
        self.captures.append(
            {
                "event": name,
                "distinct_id": distinct_id,
                "properties": {
                    **(properties if is_object(properties) else {}),
                    DEPTH_PROPERTY: depth + 1,
                },
            }
        )

    def read_call(self, name: str, arguments: list[Any]) -> HostRequest:
        """The normalized request of a host call.

        Raises:
            HostRefused: invalid arguments, or the call is not available here.
        """
        if name not in self.async_names:
            raise HostRefused(f"{name} is not available here")
        if name == "fetch":
            try:
                request = self._guarded(read_fetch(arguments, self._inputs))
            except FetchRefused as error:
                raise HostRefused(str(error)) from None
            for sentence in ignored_options(arguments):
                self.log("warn", sentence)
            return msgspec.to_builtins(request)
        try:
            return msgspec.to_builtins(read_email(arguments))
        except EmailRefused as error:
            raise HostRefused(str(error)) from None

    def _guarded(self, request: FetchRequest) -> FetchRequest:
        """Count a request to our own capture routes as a capture.

        Raises:
            HostRefused: too many functions in a row did so.
        """
        if not is_own_capture(request.url, self._site_url):
            return request
        depth = depth_of(self.event)
        if depth >= MAX_DEPTH:
            raise HostRefused(
                f"fetch refused: {depth} functions in a row already captured an event"
            )
        return msgspec.structs.replace(request, body=with_depth(request.body, depth + 1))


@lru_cache(maxsize=8)
def _helpers(facilities: HostConfig) -> dict[str, Callable[..., Any]]:
    """The helpers of all programs; files are opened on first use."""
    path, bot_list = facilities.geoip_database, facilities.bot_list

    def geoip_lookup(ip: object = None) -> GeoRecord | None:
        return open_geoip(path)(ip) if isinstance(ip, str) else None

    def is_known_bot_user_agent(text: object = None) -> bool:
        return open_bot_detector(bot_list).is_known_user_agent(text)

    def is_known_bot_ip(ip: object = None) -> bool:
        return open_bot_detector(bot_list).is_known_ip(ip)

    return {
        "geoipLookup": geoip_lookup,
        "cleanNullValues": clean_null_values,
        "parseUserAgent": parse_user_agent,
        "isKnownBotUserAgent": is_known_bot_user_agent,
        "isKnownBotIp": is_known_bot_ip,
    }


def clean_null_values(value: Any = None) -> Any:
    """The value without nulls in lists and objects, at any depth."""
    if is_object(value):
        return {key: clean_null_values(part) for key, part in value.items() if part is not None}
    if is_array(value):
        return [clean_null_values(part) for part in value if part is not None]
    return value


def _printed(value: Any) -> str:
    if isinstance(value, str):
        return value
    return dump_json(value).decode()
