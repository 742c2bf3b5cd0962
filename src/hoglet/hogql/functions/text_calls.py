"""String functions with special handling: concatenation, splitting, matching."""

from collections.abc import Callable

from hoglet.hogql.context import QueryContext
from hoglet.hogql.plan import Expr, FunctionCall, TrustedSQL, Value
from hoglet.hogql.types import STRING, STRING_ARRAY, Type

_NAMES = """
aa Afar; ab Abkhazian; ae Avestan; af Afrikaans; ak Akan; am Amharic; an Aragonese; ar Arabic;
as Assamese; av Avaric; ay Aymara; az Azerbaijani; ba Bashkir; be Belarusian; bg Bulgarian; bh
Bihari; bi Bislama; bm Bambara; bn Bengali; bo Tibetan; br Breton; bs Bosnian; ca Catalan; ce
Chechen; ch Chamorro; co Corsican; cr Cree; cs Czech; cu Church Slavic; cv Chuvash; cy Welsh; da
Danish; de German; dv Divehi; dz Dzongkha; ee Ewe; el Greek; en English; eo Esperanto; es
Spanish; et Estonian; eu Basque; fa Persian; ff Fulah; fi Finnish; fj Fijian; fo Faroese; fr
French; fy Western Frisian; ga Irish; gd Scottish Gaelic; gl Galician; gn Guarani; gu Gujarati;
gv Manx; ha Hausa; he Hebrew; hi Hindi; ho Hiri Motu; hr Croatian; ht Haitian; hu Hungarian; hy
Armenian; hz Herero; ia Interlingua; id Indonesian; ie Interlingue; ig Igbo; ii Sichuan Yi; ik
Inupiaq; io Ido; is Icelandic; it Italian; iu Inuktitut; ja Japanese; jv Javanese; ka Georgian;
kg Kongo; ki Kikuyu; kj Kuanyama; kk Kazakh; kl Kalaallisut; km Khmer; kn Kannada; ko Korean; kr
Kanuri; ks Kashmiri; ku Kurdish; kv Komi; kw Cornish; ky Kyrgyz; la Latin; lb Luxembourgish; lg
Ganda; li Limburgish; ln Lingala; lo Lao; lt Lithuanian; lu Luba-Katanga; lv Latvian; mg
Malagasy; mh Marshallese; mi Maori; mk Macedonian; ml Malayalam; mn Mongolian; mr Marathi; ms
Malay; mt Maltese; my Burmese; na Nauru; nb Norwegian Bokmål; nd North Ndebele; ne Nepali; ng
Ndonga; nl Dutch; nn Norwegian Nynorsk; no Norwegian; nr South Ndebele; nv Navajo; ny Chichewa;
oc Occitan; oj Ojibwa; om Oromo; or Oriya; os Ossetian; pa Punjabi; pi Pali; pl Polish; ps
Pashto; pt Portuguese; qu Quechua; rm Romansh; rn Rundi; ro Romanian; ru Russian; rw
Kinyarwanda; sa Sanskrit; sc Sardinian; sd Sindhi; se Northern Sami; sg Sango; si Sinhala; sk
Slovak; sl Slovenian; sm Samoan; sn Shona; so Somali; sq Albanian; sr Serbian; ss Swati; st
Southern Sotho; su Sundanese; sv Swedish; sw Swahili; ta Tamil; te Telugu; tg Tajik; th Thai; ti
Tigrinya; tk Turkmen; tl Tagalog; tn Tswana; to Tonga; tr Turkish; ts Tsonga; tt Tatar; tw Twi;
ty Tahitian; ug Uyghur; uk Ukrainian; ur Urdu; uz Uzbek; ve Venda; vi Vietnamese; vo Volapük; wa
Walloon; wo Wolof; xh Xhosa; yi Yiddish; yo Yoruba; za Zhuang; zh Chinese; zu Zulu
"""
LANGUAGES: dict[str, str] = {
    code: name
    for item in _NAMES.replace("\n", " ").split(";")
    for code, _, name in [item.strip().partition(" ")]
}
"""``{"de": "German"}``"""

_CODES = ", ".join(f"'{code}'" for code in LANGUAGES)
_NAMED = ", ".join(f"'{name}'" for name in LANGUAGES.values())


def language_name(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
    """``languageCodeToName('de')`` is ``German``; ``Unknown`` for unknown codes and NULL."""
    text = ("ifNull(toString(", args[0], "), '')")
    return TrustedSQL(
        parts=("transform(", *text, f", [{_CODES}], [{_NAMED}], 'Unknown')"), type=type_
    )


type Builder = Callable[[tuple[Expr, ...], Type, QueryContext], Expr]


def _concat(args: tuple[Expr, ...], _type: Type, _context: QueryContext) -> Expr:
    """All parts as strings, NULL as an empty string, so the result is never NULL."""
    if len(args) == 1:
        return _part(args[0])
    return FunctionCall(function="concat", args=tuple([_part(arg) for arg in args]), type=STRING)


def _part(arg: Expr) -> Expr:
    if isinstance(arg, Value) and arg.bind == "String":
        return arg
    return TrustedSQL(parts=("ifNull(toString(", arg, "), '')"), type=STRING)


def _json_build_object(args: tuple[Expr, ...], _type: Type, _context: QueryContext) -> Expr:
    return TrustedSQL(
        parts=("toJSONString(", FunctionCall(function="map", args=args), ")"), type=STRING
    )


def _string_to_array(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
    return FunctionCall(function="splitByString", args=(args[1], args[0]), type=type_)


def _sortable_semver(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
    """The first dotted numbers of a string as integers, as in Hog; ``[]`` without any.

    Numbers of more than 15 digits all compare as equal; versions do not contain such numbers.
    """
    number = "if(length(x) > 15, 1000000000000000, toInt64OrZero(x))"
    text: tuple[str | Expr, ...] = ("ifNull(toString(", args[0], "), '')")
    dotted = ("extract(", *text, r", '[0-9]+(?:[.][0-9]+)+')")
    pieces = ("arrayFilter(x -> x != '', splitByChar('.', ", *dotted, "))")
    return TrustedSQL(parts=(f"arrayMap(x -> {number}, ", *pieces, ")"), type=type_)


def _split_part(args: tuple[Expr, ...], _type: Type, _context: QueryContext) -> Expr:
    pieces = FunctionCall(function="splitByString", args=(args[1], args[0]), type=STRING_ARRAY)
    return FunctionCall(function="arrayElement", args=(pieces, args[2]), type=STRING)


# Uses the linear-time expressions of `match`; the engine's own function has no limits.
def _any_match(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
    parts = ("arrayExists(hoglet_p -> match(", args[0], ", hoglet_p), ", args[1], ")")
    return TrustedSQL(parts=parts, type=type_)


def _first_match(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
    parts = ("arrayFirstIndex(hoglet_p -> match(", args[0], ", hoglet_p), ", args[1], ")")
    return TrustedSQL(parts=parts, type=type_)


def _all_matches(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
    filtered = (
        "arrayFilter((hoglet_i, hoglet_p) -> match(",
        args[0],
        ", hoglet_p), arrayEnumerate(",
    )
    return TrustedSQL(parts=(*filtered, args[1], "), ", args[1], ")"), type=type_)


_IPV4 = r"'\\b(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)\\.){3}(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)\\b'"


def _ipv4_addresses(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
    return TrustedSQL(parts=("extractAll(", args[0], f", {_IPV4})"), type=type_)


def _md5(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
    return TrustedSQL(parts=("hex(MD5(", args[0], "))"), type=type_)


def _tag(kind: str, *keys: str) -> Builder:
    """A cell for PostHog's result table; elsewhere a list of names and values."""

    def build(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
        parts: list[str | Expr] = [f"tuple('__hx_tag', '{kind}'"]
        for key, arg in zip(keys, args, strict=False):
            parts += [f", '{key}', ", arg]
        return TrustedSQL(parts=(*parts, ")"), type=type_)

    return build


_RECORDING_BUTTON = _tag("RecordingButton", "sessionId", "recordingStatus")

TEXT_BUILDERS = {
    "concat": _concat,
    "extractIPv4Substrings": _ipv4_addresses,
    "languageCodeToName": language_name,
    "md5": _md5,
    "sparkline": _tag("Sparkline", "data"),
    "recordingButton": _RECORDING_BUTTON,
    "recording_button": _RECORDING_BUTTON,
    "json_build_object": _json_build_object,
    "split_part": _split_part,
    "sortableSemver": _sortable_semver,
    "string_to_array": _string_to_array,
    "multiMatchAny": _any_match,
    "multiMatchAnyIndex": _first_match,
    "multiMatchAllIndices": _all_matches,
}
"""Merged into the table of ``special``."""
