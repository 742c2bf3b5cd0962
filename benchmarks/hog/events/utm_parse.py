"""``utm_parse.hog`` in hand-written Python."""

from urllib.parse import unquote

from benchmarks.hog.printing import printed

NAMES = ("utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content")


def query_params(url):
    result = {}
    _, mark, query = url.partition("?")
    if not mark:
        return result
    for pair in query.split("#")[0].split("&"):
        name, _, value = pair.partition("=")
        result[name] = unquote(value)
    return result


def main(given):
    event, lines = given["event"], []
    params = query_params(event["properties"]["$current_url"])
    utm = {name: params[name] for name in NAMES if params.get(name)}
    lines.append(f"{event['distinct_id']} {printed(utm)}")
    return utm
