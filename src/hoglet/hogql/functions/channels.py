"""Classifies traffic sources by domain or UTM tag: search engines, social networks, video sites.

Source: docs/spec/query-endpoints.md#104-functions (the lists are ours).
"""

from collections.abc import Callable

from hoglet.hogql.context import QueryContext
from hoglet.hogql.plan import Expr, TrustedSQL
from hoglet.hogql.traffic import BY_SITE, DOMAIN_TYPE, lookup_lists
from hoglet.hogql.types import Type

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


CHANNELS: dict[str, Builder] = {
    "lookupDomainType": _domain_type,
    "lookupPaidSourceType": _lookup({site: f"Paid {kind}" for site, kind in BY_SITE.items()}),
    "lookupOrganicSourceType": _lookup({site: f"Organic {kind}" for site, kind in BY_SITE.items()}),
    "lookupPaidMediumType": _lookup(_PAID_MEDIUMS),
    "lookupOrganicMediumType": _lookup(_ORGANIC_MEDIUMS),
}
"""Merged into the table of ``special``."""
