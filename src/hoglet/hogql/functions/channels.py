"""Classifies traffic sources by domain or UTM tag: search engines, social networks, video sites.

Source: docs/spec/query-endpoints.md#104-functions (the lists are ours).
"""

from collections.abc import Callable

from hoglet.hogql.context import QueryContext
from hoglet.hogql.plan import Expr, TrustedSQL
from hoglet.hogql.types import Type

type Builder = Callable[[tuple[Expr, ...], Type, QueryContext], Expr]

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


def _listed(words: dict[str, str]) -> str:
    keys = ", ".join(f"'{word}'" for word in words)
    values = ", ".join(f"'{value}'" for value in words.values())
    return f"[{keys}], [{values}]"


def _lookup(words: dict[str, str]) -> Builder:
    """Case-insensitive lookup of a value; NULL for unknown ones."""

    def build(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
        text = ("lower(ifNull(toString(", args[0], "), ''))")
        parts = ("transform(", *text, f", {_listed(words)}, NULL)")
        return TrustedSQL(parts=parts, type=type_)

    return build


_BY_SITE = {site: kind for kind, sites in _SITES.items() for site in sites}


def _domain_type(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
    """By the name before the public suffix: ``google`` of ``www.google.co.uk``."""
    text = ("lower(ifNull(toString(", args[0], "), ''))")
    name = (*("if(", *text, " = 't.co', 't.co', firstSignificantSubdomain(concat('//', "), *text)
    parts = ("transform(", *name, f"))), {_listed(_BY_SITE)}, NULL)")
    return TrustedSQL(parts=parts, type=type_)


CHANNELS: dict[str, Builder] = {
    "lookupDomainType": _domain_type,
    "lookupPaidSourceType": _lookup({site: f"Paid {kind}" for site, kind in _BY_SITE.items()}),
    "lookupOrganicSourceType": _lookup(
        {site: f"Organic {kind}" for site, kind in _BY_SITE.items()}
    ),
    "lookupPaidMediumType": _lookup(_PAID_MEDIUMS),
    "lookupOrganicMediumType": _lookup(_ORGANIC_MEDIUMS),
}
"""Merged into the table of ``special``."""
