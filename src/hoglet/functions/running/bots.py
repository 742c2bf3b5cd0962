"""Well-known bots, by user agent and by address.

The user agents are the names that crawlers publish; the ranges are those that the operators of the
crawlers publish for them, cut down to the stable ones. Users add theirs in the template's inputs.
"""

import ipaddress
from functools import lru_cache

_AGENTS = (
    "adsbot",
    "ahrefsbot",
    "amazonbot",
    "anthropic-ai",
    "applebot",
    "archive.org_bot",
    "baiduspider",
    "bingbot",
    "bingpreview",
    "bot/",
    "bot;",
    "bytespider",
    "ccbot",
    "chatgpt-user",
    "claude-web",
    "claudebot",
    "cohere-ai",
    "crawler",
    "dataforseobot",
    "discordbot",
    "dotbot",
    "duckduckbot",
    "facebookexternalhit",
    "feedfetcher",
    "google-inspectiontool",
    "googlebot",
    "googleother",
    "gptbot",
    "headlesschrome",
    "ia_archiver",
    "linkedinbot",
    "mediapartners-google",
    "meta-externalagent",
    "mj12bot",
    "msnbot",
    "oai-searchbot",
    "perplexitybot",
    "petalbot",
    "phantomjs",
    "pingdom",
    "pinterestbot",
    "prerender",
    "rogerbot",
    "semrushbot",
    "seznambot",
    "slackbot",
    "slurp",
    "sogou",
    "spider",
    "telegrambot",
    "twitterbot",
    "uptimerobot",
    "vercelbot",
    "whatsapp",
    "yandexbot",
)
_RANGES = tuple(
    ipaddress.ip_network(text)
    for text in (
        "66.249.64.0/19",  # Googlebot
        "2001:4860:4801::/48",  # Googlebot
        "40.77.167.0/24",  # Bingbot
        "157.55.39.0/24",  # Bingbot
        "207.46.13.0/24",  # Bingbot
        "17.241.0.0/16",  # Applebot
        "5.255.253.0/24",  # YandexBot
        "87.250.224.0/19",  # YandexBot
        "180.76.15.0/24",  # Baiduspider
        "54.36.148.0/23",  # AhrefsBot
        "69.171.224.0/19",  # facebookexternalhit
    )
)


def is_known_user_agent(agent: object = None) -> bool:
    """Whether a user agent contains the name of a known bot."""
    if not isinstance(agent, str):
        return False
    lowered = agent.lower()
    return any(name in lowered for name in _AGENTS)


@lru_cache(maxsize=4096)
def _is_known(ip: str) -> bool:
    try:
        address = ipaddress.ip_address(ip)
    except ValueError:
        return False
    return any(address in known for known in _RANGES if known.version == address.version)


def is_known_ip(ip: object = None) -> bool:
    """Whether an address belongs to a known crawler; False for anything that is no address."""
    return isinstance(ip, str) and _is_known(ip)
