"""Known user agents and referring sites, and the SQL that classifies traffic by them.

The leftmost word of a user agent counts, ignoring case. The lists are ours.

Source: docs/spec/query-endpoints.md#104-functions (bot and traffic helpers).
"""

# word, name, category
_AGENTS = (
    ("googlebot", "Googlebot", "search_crawler"),
    ("adsbot-google", "Google AdsBot", "search_crawler"),
    ("bingbot", "Bingbot", "search_crawler"),
    ("duckduckbot", "DuckDuckBot", "search_crawler"),
    ("yandexbot", "YandexBot", "search_crawler"),
    ("baiduspider", "Baiduspider", "search_crawler"),
    ("applebot", "Applebot", "search_crawler"),
    ("gptbot", "GPTBot", "ai_crawler"),
    ("claudebot", "ClaudeBot", "ai_crawler"),
    ("anthropic-ai", "Anthropic", "ai_crawler"),
    ("ccbot", "CCBot", "ai_crawler"),
    ("bytespider", "Bytespider", "ai_crawler"),
    ("google-extended", "Google-Extended", "ai_crawler"),
    ("meta-externalagent", "Meta-ExternalAgent", "ai_crawler"),
    ("amazonbot", "Amazonbot", "ai_crawler"),
    ("oai-searchbot", "OAI-SearchBot", "ai_search"),
    ("perplexitybot", "PerplexityBot", "ai_search"),
    ("chatgpt-user", "ChatGPT-User", "ai_assistant"),
    ("claude-user", "Claude-User", "ai_assistant"),
    ("perplexity-user", "Perplexity-User", "ai_assistant"),
    ("facebookexternalhit", "Facebook", "social_crawler"),
    ("twitterbot", "Twitterbot", "social_crawler"),
    ("linkedinbot", "LinkedInBot", "social_crawler"),
    ("slackbot", "Slackbot", "social_crawler"),
    ("discordbot", "Discordbot", "social_crawler"),
    ("telegrambot", "TelegramBot", "social_crawler"),
    ("ahrefsbot", "AhrefsBot", "seo_crawler"),
    ("semrushbot", "SemrushBot", "seo_crawler"),
    ("mj12bot", "MJ12bot", "seo_crawler"),
    ("screaming frog", "Screaming Frog", "seo_crawler"),
    ("uptimerobot", "UptimeRobot", "monitoring"),
    ("pingdom", "Pingdom", "monitoring"),
    ("statuscake", "StatusCake", "monitoring"),
    ("chrome-lighthouse", "Lighthouse", "monitoring"),
    ("headlesschrome", "Headless Chrome", "headless_browser"),
    ("phantomjs", "PhantomJS", "headless_browser"),
    ("playwright", "Playwright", "headless_browser"),
    ("curl/", "curl", "http_client"),
    ("wget/", "Wget", "http_client"),
    ("python-requests", "Python Requests", "http_client"),
    ("python-urllib", "Python urllib", "http_client"),
    ("go-http-client", "Go HTTP client", "http_client"),
    ("axios/", "axios", "http_client"),
    ("node-fetch", "node-fetch", "http_client"),
    ("scrapy", "Scrapy", "http_client"),
    ("bot/", "Other bot", "crawler"),
    ("bot;", "Other bot", "crawler"),
    ("crawler", "Other bot", "crawler"),
    ("spider", "Other bot", "crawler"),
)
_OPERATORS = {
    "Googlebot": "Google", "Google AdsBot": "Google", "Google-Extended": "Google",
    "Lighthouse": "Google", "Headless Chrome": "", "Bingbot": "Microsoft",
    "LinkedInBot": "LinkedIn", "DuckDuckBot": "DuckDuckGo", "YandexBot": "Yandex",
    "Baiduspider": "Baidu",
    "Applebot": "Apple", "GPTBot": "OpenAI", "OAI-SearchBot": "OpenAI", "ChatGPT-User": "OpenAI",
    "ClaudeBot": "Anthropic", "Claude-User": "Anthropic", "CCBot": "Common Crawl",
    "Bytespider": "ByteDance", "Meta-ExternalAgent": "Meta", "Facebook": "Meta",
    "Amazonbot": "Amazon", "PerplexityBot": "Perplexity", "Perplexity-User": "Perplexity",
    "Twitterbot": "X", "Slackbot": "Slack", "Discordbot": "Discord", "TelegramBot": "Telegram",
    "AhrefsBot": "Ahrefs", "SemrushBot": "Semrush", "MJ12bot": "Majestic",
}  # fmt: skip
"""Operator by name; empty for programs without one operator; if missing here, the name itself."""

_PROGRAMS = frozenset({"headless_browser", "http_client", "crawler"})
_AUTOMATION = frozenset({"headless_browser", "http_client"})


def _listed(texts: list[str]) -> str:
    return f"[{', '.join(repr(text) for text in texts)}]"


_WORDS = _listed([word for word, _, _ in _AGENTS])


def _operator(name: str, category: str) -> str:
    return _OPERATORS.get(name, "" if category in _PROGRAMS else name)


def _kind(category: str) -> str:
    if category.startswith("ai_"):
        return "AI Agent"
    return "Automation" if category in _AUTOMATION else "Bot"


_INDEX = f"multiSearchFirstIndexCaseInsensitive(ifNull(toString({{0}}), ''), {_WORDS})"
"""The number of the leftmost word, 0 for none."""


def _looked_up(texts: list[str], none: str) -> str:
    return f"arrayElement({_listed([none, *texts])}, 1 + {_INDEX})"


AGENT_SQL = {
    "isBot": f"CAST({_INDEX} > 0, 'Bool')",
    "getBotName": _looked_up([name for _, name, _ in _AGENTS], ""),
    "getBotType": _looked_up([category for _, _, category in _AGENTS], ""),
    "getBotOperator": _looked_up([_operator(name, category) for _, name, category in _AGENTS], ""),
    "getTrafficCategory": _looked_up([category for _, _, category in _AGENTS], "regular"),
    "getTrafficType": _looked_up([_kind(category) for _, _, category in _AGENTS], "Regular"),
}
"""The SQL of these functions; ``{0}`` is a user agent."""

_SITES = {
    "Search": (
        "google", "bing", "duckduckgo", "yahoo", "baidu", "yandex", "ecosia", "qwant", "startpage",
    ),
    "Social": (
        "facebook", "instagram", "twitter", "x", "t.co", "linkedin", "reddit", "pinterest",
        "tiktok", "threads", "fb", "ig",
    ),
    "Video": ("youtube", "vimeo", "twitch"),
}  # fmt: skip
BY_SITE = {site: kind for kind, sites in _SITES.items() for site in sites}
"""The kind of a site by its name."""


def lookup_lists(words: dict[str, str]) -> str:
    """The two list arguments of ``transform``: the words and their values."""
    keys = ", ".join(f"'{word}'" for word in words)
    values = ", ".join(f"'{value}'" for value in words.values())
    return f"[{keys}], [{values}]"


_DOMAIN = "lower(ifNull(toString({0}), ''))"
DOMAIN_TYPE = (
    f"transform(if({_DOMAIN} = 't.co', 't.co', firstSignificantSubdomain(concat('//', {_DOMAIN}))),"
    f" {lookup_lists(BY_SITE)}, NULL)"
)
"""By the name before the public suffix: ``google`` of ``www.google.co.uk``; ``{0}`` is a domain."""
