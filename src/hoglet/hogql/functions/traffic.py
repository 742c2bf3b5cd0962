"""Classifies user agents: people, crawlers, AI agents, scripts.

The leftmost of the words below counts, ignoring case.

Source: docs/spec/query-endpoints.md#104-functions (bot and traffic helpers; the words are ours).
"""

from collections.abc import Callable

from hoglet.hogql.context import QueryContext
from hoglet.hogql.plan import Expr, TrustedSQL
from hoglet.hogql.types import Type

TRAFFIC = """
isBot | 1 | bool! | isBot('Mozilla/5.0 (compatible; Googlebot/2.1)')
isLikelyBot | 1 | bool! | isLikelyBot('curl/8.5.0')
getBotName | 1 | str! | getBotName('Mozilla/5.0 (compatible; Googlebot/2.1)')
getTrafficCategory | 1 | str! | getTrafficCategory('Mozilla/5.0 AppleWebKit/537.36; compatible; GPTBot/1.2')
getTrafficType | 1 | str! | getTrafficType('Mozilla/5.0 AppleWebKit/537.36; compatible; GPTBot/1.2')
getBotType | 1 | str! | getBotType('Mozilla/5.0 (compatible; Googlebot/2.1)')
getBotOperator | 1 | str! | getBotOperator('Mozilla/5.0 (compatible; Googlebot/2.1)')
__preview_getBotType | 1 | str! | __preview_getBotType('facebookexternalhit/1.1')
__preview_getBotOperator | 1 | str! | __preview_getBotOperator('facebookexternalhit/1.1')
__preview_isBot | 1 | bool! | __preview_isBot('Mozilla/5.0 (Macintosh)')
__preview_getBotName | 1 | str! | __preview_getBotName('facebookexternalhit/1.1')
__preview_getTrafficCategory | 1 | str! | __preview_getTrafficCategory('UptimeRobot/2.0')
__preview_getTrafficType | 1 | str! | __preview_getTrafficType('Mozilla/5.0 (Macintosh)')
"""  # noqa: E501 (a row is a line)

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
"""Operator by name; empty for programs that anybody runs, otherwise the name itself."""

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


def _index(agent: Expr) -> tuple[str | Expr, ...]:
    """The number of the leftmost word, 0 for none."""
    text = ("ifNull(toString(", agent, "), '')")
    return ("multiSearchFirstIndexCaseInsensitive(", *text, f", {_WORDS})")


def _is_bot(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
    return TrustedSQL(parts=("CAST(", *_index(args[0]), " > 0, 'Bool')"), type=type_)


def _looked_up(
    texts: list[str], none: str
) -> Callable[[tuple[Expr, ...], Type, QueryContext], Expr]:
    table = _listed([none, *texts])

    def build(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
        return TrustedSQL(parts=(f"arrayElement({table}, 1 + ", *_index(args[0]), ")"), type=type_)

    return build


_BY_NAME = {
    "isBot": _is_bot,
    "getBotName": _looked_up([name for _, name, _ in _AGENTS], ""),
    "getBotType": _looked_up([category for _, _, category in _AGENTS], ""),
    "getBotOperator": _looked_up([_operator(name, category) for _, name, category in _AGENTS], ""),
    "getTrafficCategory": _looked_up([category for _, _, category in _AGENTS], "regular"),
    "getTrafficType": _looked_up([_kind(category) for _, _, category in _AGENTS], "Regular"),
}
TRAFFIC_BUILDERS = {
    "isLikelyBot": _is_bot,
    **_BY_NAME,
    **{f"__preview_{name}": builder for name, builder in _BY_NAME.items()},
}
"""Merged into the table of ``special``."""
