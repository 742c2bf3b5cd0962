"""``parseUserAgent(text)``: browser, operating system and device type of a user agent. Pure.

Names are those of the public SDKs in ``$browser``, ``$os`` and ``$device_type``.
"""

import re
from functools import lru_cache
from typing import Any, Final

_CHARACTERS = 1024  # of a user agent; browsers send about 200
_CACHED = 4096
_VERSION = r"[/ ]?(\d+(?:\.\d+)*)?"
_BROWSERS: Final = [  # the first match wins: most user agents also name their ancestors
    (name, re.compile(pattern + _VERSION))
    for name, pattern in (
        ("Microsoft Edge", r"(?:Edg|Edge|EdgA|EdgiOS)"),
        ("Opera", r"(?:OPR|OPT|OPiOS|Opera Mini|Opera)"),
        ("Samsung Internet", r"SamsungBrowser"),
        ("UC Browser", r"(?:UCBrowser|UCWEB)"),
        ("Facebook Mobile", r"FBAV"),
        ("Chrome iOS", r"CriOS"),
        ("Firefox iOS", r"FxiOS"),
        ("Firefox", r"Firefox"),
        ("Internet Explorer", r"MSIE"),
        ("Internet Explorer", r"Trident/.*rv:"),
        ("Chrome", r"(?:Chrome|Chromium)"),
        ("Mobile Safari", r"(?=.*Mobile/).*Version(?=.*Safari/)"),
        ("Safari", r"Version(?=.*Safari/)"),
        ("Android Mobile", r"Android(?=.*AppleWebKit)"),
    )
]
_SYSTEMS: Final = [
    (name, re.compile(pattern))
    for name, pattern in (
        ("Windows Phone", r"Windows Phone(?: OS)? ?([\d.]+)?"),
        ("Xbox", r"Xbox()"),
        ("Windows", r"Windows(?: NT ?([\d.]+))?"),
        ("iOS", r"(?:iPhone|iPad|iPod).*? OS (\d+(?:_\d+)*)"),
        ("iOS", r"iPhone|iPad|iPod()"),
        ("Android", r"Android ?([\d.]+)?"),
        ("Chrome OS", r"CrOS \S+ ([\d.]+)"),
        ("Mac OS X", r"Mac OS X ?(\d+(?:[._]\d+)*)?"),
        ("Linux", r"Linux|X11()"),
    )
]
_WINDOWS: Final = {"10.0": "10", "6.3": "8.1", "6.2": "8", "6.1": "7", "6.0": "Vista", "5.1": "XP"}
_DEVICES: Final = ("iPhone", "iPad", "iPod", "Xbox", "Windows Phone", "Android")
_KEYS: Final = ("browser", "browser_version", "os", "os_version", "device", "device_type")


def parse_user_agent(text: Any = None) -> dict[str, str | None]:
    """Parse a user agent; every key is null for anything that is not a string.

    Returns:
        ``{"browser": "Chrome", "browser_version": "126.0", "os": "Mac OS X", "os_version":
        "10.15.7", "device": None, "device_type": "Desktop"}``; ``device_type`` is ``Desktop``,
        ``Mobile`` or ``Tablet``.
    """
    if not isinstance(text, str) or not text:
        return dict.fromkeys(_KEYS)
    return dict(_parse(text[:_CHARACTERS]))


@lru_cache(maxsize=_CACHED)
def _parse(text: str) -> dict[str, str | None]:
    browser, browser_version = _first(_BROWSERS, text)
    system, system_version = _first(_SYSTEMS, text)
    if system == "Windows" and system_version:
        system_version = _WINDOWS.get(system_version, system_version)
    return {
        "browser": browser,
        "browser_version": browser_version,
        "os": system,
        "os_version": system_version and system_version.replace("_", "."),
        "device": next((name for name in _DEVICES if name in text), None),
        "device_type": _device_type(text, system),
    }


def _first(rules: list[tuple[str, re.Pattern[str]]], text: str) -> tuple[str | None, str | None]:
    for name, pattern in rules:
        match = pattern.search(text)
        if match is not None:
            return name, match[1] or None
    return None, None


def _device_type(text: str, system: str | None) -> str | None:
    if "iPad" in text or "Tablet" in text or (system == "Android" and "Mobile" not in text):
        return "Tablet"
    if "Mobi" in text or system in {"iOS", "Windows Phone"}:
        return "Mobile"
    return "Desktop" if system is not None else None
