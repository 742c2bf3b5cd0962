"""Sessions, computed from events with a ``$session_id``."""

import msgspec

from hoglet.hogql.schema.fields import (
    Computed,
    Derived,
    Field,
    Redirect,
    StoredColumn,
    Table,
)
from hoglet.hogql.types import (
    BOOLEAN,
    DATETIME,
    FLOAT,
    INTEGER,
    NULLABLE_STRING,
    STRING,
    STRING_ARRAY,
)


def _text(key: str) -> str:
    return f"CAST(properties_json.`{key}`, 'Nullable(String)')"


def _first(value: str) -> str:
    return f"argMinIf({value}, timestamp, isNotNull({value}))"


def _last(value: str) -> str:
    return f"argMaxIf({value}, timestamp, isNotNull({value}))"


_URL = _text("$current_url")
_PATH = f"coalesce(path({_URL}), {_text('$pathname')})"
_HOST = f"coalesce(domain({_URL}), {_text('$host')})"
_SECONDS = "dateDiff('second', min(timestamp), max(timestamp))"
_PAGEVIEWS = "countIf(event = '$pageview')"
_CLICKS = "countIf(event = '$autocapture')"
_SCREENS = "countIf(event = '$screen')"
_AD_IDS = (
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "fbclid",
    "msclkid",
    "twclid",
    "li_fat_id",
    "mc_cid",
    "igshid",
    "ttclid",
    "epik",
    "qclid",
    "sccid",
    "_kx",
    "irclid",
)
_SEARCH = "'google|bing|duckduckgo|yahoo|baidu|yandex|ecosia|qwant|startpage'"
_SOCIAL = (
    "'facebook|instagram|twitter|^t\\\\.co|x\\\\.com|linkedin|reddit|pinterest|tiktok|threads'"
)
_VIDEO = "'youtube|vimeo|twitch'"
_CHANNEL_FIELDS = (
    ("$entry_utm_medium",),
    ("$entry_utm_source",),
    ("$entry_referring_domain",),
    ("$entry_gclid",),
    ("$entry_msclkid",),
)
_MEDIUM, _SOURCE, _REFERRER = (f"lower(ifNull({{{index}}}, ''))" for index in range(3))
_PAID = (
    f"(match({_MEDIUM}, 'cpc|ppc|retargeting|^paid|cpm|cpv|cpa') "
    "OR isNotNull({3}) OR isNotNull({4}))"
)


def _from(places: str) -> str:
    return f"(match({_REFERRER}, {places}) OR match({_SOURCE}, {places}))"


CHANNEL = (
    "multiIf("
    f"{_PAID} AND {_from(_SEARCH)}, 'Paid Search', {_PAID} AND {_from(_SOCIAL)}, 'Paid Social', "
    f"{_PAID} AND {_from(_VIDEO)}, 'Paid Video', {_PAID}, 'Paid Unknown', "
    f"{_MEDIUM} = 'email' OR {_SOURCE} IN ('email', 'newsletter'), 'Email', "
    f"{_MEDIUM} = 'affiliate', 'Affiliate', {_MEDIUM} = 'sms', 'SMS', "
    f"{_MEDIUM} = 'push', 'Push', {_MEDIUM} = 'referral', 'Referral', "
    f"{_from(_SEARCH)}, 'Organic Search', {_from(_SOCIAL)}, 'Organic Social', "
    f"{_from(_VIDEO)}, 'Organic Video', "
    f"{_REFERRER} = '$direct' AND {_SOURCE} = '', 'Direct', "
    f"{_REFERRER} NOT IN ('', '$direct'), 'Referral', 'Unknown')"
)
"""The channel of a medium, a source, a referring domain, a ``gclid`` and an ``msclkid``."""

_ENTRIES = {
    "$entry_current_url": _first(_URL),
    "$entry_pathname": _first(_PATH),
    "$entry_hostname": _first(_HOST),
    "$end_current_url": _last(_URL),
    "$end_pathname": _last(_PATH),
    "$end_hostname": _last(_HOST),
    "$exit_current_url": _last(_URL),
    "$exit_pathname": _last(_PATH),
    "$entry_referring_domain": _first(_text("$referring_domain")),
    "$entry_referrer": _first(_text("$referrer")),
    **{
        f"$entry_utm_{part}": _first(_text(f"utm_{part}"))
        for part in ("source", "campaign", "medium", "term", "content")
    },
    **{f"$entry_{name}": _first(_text(name)) for name in _AD_IDS},
    "$last_external_click_url": _last(_text("$external_click_url")),
}

_NUMBER = "accurateCastOrNull({text}, 'Float64')"
_LCP = _NUMBER.format(text=_text("$web_vitals_LCP_value"))
_V7 = "toUInt128(accurateCastOrNull(`$session_id`, 'UUID'))"
"""A session id as the number of its UUID; NULL for ids that are not UUIDs."""

FIELDS: dict[str, Field] = {
    "id": StoredColumn("$session_id", STRING),
    "session_id": StoredColumn("$session_id", STRING),
    "distinct_id": Computed("argMin(distinct_id, timestamp)", STRING, star=True),
    "$start_timestamp": Computed("min(timestamp)", DATETIME, star=True),
    "$end_timestamp": Computed("max(timestamp)", DATETIME, star=True),
    "$urls": Computed(f"arraySort(groupUniqArray({_URL}))", STRING_ARRAY, star=True),
    "$num_uniq_urls": Computed(f"uniqExact({_URL})", INTEGER, star=True),
    **{name: Computed(sql, NULLABLE_STRING, star=True) for name, sql in _ENTRIES.items()},
    "$pageview_count": Computed(_PAGEVIEWS, INTEGER, star=True),
    "$autocapture_count": Computed(_CLICKS, INTEGER, star=True),
    "$screen_count": Computed(_SCREENS, INTEGER, star=True),
    "$channel_type": Derived(CHANNEL, _CHANNEL_FIELDS, STRING, star=True),
    "$session_duration": Computed(_SECONDS, INTEGER, star=True),
    "duration": Redirect(("$session_duration",)),
    "session_id_v7": Computed(_V7, INTEGER.or_null()),
    "$vitals_lcp": Computed(_first(_LCP), FLOAT.or_null(), star=True),
    "$is_bounce": Computed(
        f"if({_PAGEVIEWS} + {_SCREENS} = 0, NULL, "
        f"toBool({_PAGEVIEWS} + {_SCREENS} = 1 AND {_CLICKS} = 0 AND {_SECONDS} < 10))",
        BOOLEAN.or_null(),
        star=True,
    ),
}

_RAW = {
    "session_id_v7": FIELDS["session_id_v7"],
    "distinct_id": FIELDS["distinct_id"],
    "min_timestamp": FIELDS["$start_timestamp"],
    "max_timestamp": FIELDS["$end_timestamp"],
    "urls": FIELDS["$urls"],
    "entry_url": FIELDS["$entry_current_url"],
    "end_url": FIELDS["$end_current_url"],
    "last_external_click_url": FIELDS["$last_external_click_url"],
    "initial_referring_domain": FIELDS["$entry_referring_domain"],
    **{
        f"initial_{name}": FIELDS[f"$entry_{name}"]
        for name in (
            *(f"utm_{part}" for part in ("source", "campaign", "medium", "term", "content")),
            *_AD_IDS,
        )
    },
    "pageview_count": FIELDS["$pageview_count"],
    "autocapture_count": FIELDS["$autocapture_count"],
    "screen_count": FIELDS["$screen_count"],
    "vitals_lcp": FIELDS["$vitals_lcp"],
}
SESSIONS = Table(
    "sessions",
    "events",
    FIELDS,
    where="`$session_id` != ''",
    group_by="`$session_id`",
    time="$start_timestamp",
    other_names={
        raw: name for raw, field in _RAW.items() for name, own in FIELDS.items() if own is field
    },
)
RAW_SESSIONS = msgspec.structs.replace(
    SESSIONS, name="raw_sessions", fields=_RAW, time="min_timestamp", other_names={}
)
"""Sessions with the names of PostHog's aggregating table; one finished row for each."""
