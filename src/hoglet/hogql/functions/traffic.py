"""Classifies traffic: user agents, and sources by domain or UTM tag.

Source: docs/spec/query-endpoints.md#104-functions (bot and traffic helpers; words and lists are
ours).
"""

from collections.abc import Callable

from hoglet.hogql.context import QueryContext
from hoglet.hogql.plan import Expr, TrustedSQL
from hoglet.hogql.traffic_rules import AGENT_SQL, BY_SITE, DOMAIN_TYPE, lookup_lists
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


def _of_agent(sql: str) -> Callable[[tuple[Expr, ...], Type, QueryContext], Expr]:
    before, after = sql.split("{0}")

    def build(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
        return TrustedSQL(parts=(before, args[0], after), type=type_)

    return build


_BY_NAME = {name: _of_agent(sql) for name, sql in AGENT_SQL.items()}
TRAFFIC_BUILDERS = {
    "isLikelyBot": _BY_NAME["isBot"],
    **_BY_NAME,
    **{f"__preview_{name}": builder for name, builder in _BY_NAME.items()},
}
"""Merged into the table of ``special``."""


type Builder = Callable[[tuple[Expr, ...], Type, QueryContext], Expr]

_PAID_MEDIUMS = {
    "cpc": "Paid Search", "ppc": "Paid Search", "paidsearch": "Paid Search",
    "paid_social": "Paid Social", "paid-social": "Paid Social", "paidsocial": "Paid Social",
    "paid_video": "Paid Video", "paidvideo": "Paid Video", "cpv": "Paid Video",
    "display": "Display", "banner": "Display", "cpm": "Display",
    "retargeting": "Paid Unknown", "cpa": "Paid Unknown", "paid": "Paid Unknown",
}  # fmt: skip
_ORGANIC_MEDIUMS = {
    "email": "Email", "e-mail": "Email", "newsletter": "Email", "sms": "SMS", "push": "Push",
    "affiliate": "Affiliate", "referral": "Referral", "audio": "Audio",
    "organic": "Organic Search", "social": "Organic Social", "video": "Organic Video",
}  # fmt: skip


def _lookup(words: dict[str, str]) -> Builder:
    """Case-insensitive lookup of a value; NULL for unknown ones."""

    def build(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
        text = ("lower(ifNull(toString(", args[0], "), ''))")
        parts = ("transform(", *text, f", {lookup_lists(words)}, NULL)")
        return TrustedSQL(parts=parts, type=type_)

    return build


def _domain_type(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
    before, between, after = DOMAIN_TYPE.split("{0}")
    return TrustedSQL(parts=(before, args[0], between, args[0], after), type=type_)


_CHANNELS: dict[str, Builder] = {
    "lookupDomainType": _domain_type,
    "lookupPaidSourceType": _lookup({site: f"Paid {kind}" for site, kind in BY_SITE.items()}),
    "lookupOrganicSourceType": _lookup({site: f"Organic {kind}" for site, kind in BY_SITE.items()}),
    "lookupPaidMediumType": _lookup(_PAID_MEDIUMS),
    "lookupOrganicMediumType": _lookup(_ORGANIC_MEDIUMS),
}
CHANNELS = _CHANNELS | {f"hogql_{name}": builder for name, builder in _CHANNELS.items()}
"""Merged into the table of ``special``."""
