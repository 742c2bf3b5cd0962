from urllib.parse import unquote


def parameters(url):
    values = {}
    _, _, query = url.partition("#")[0].partition("?")
    if not query:
        return values
    for part in query.split("&"):
        key, _, value = part.partition("=")
        values[key] = unquote(value.replace("+", " "))
    return values


def main(g):
    url = g["event"]["properties"]["$current_url"]
    given = parameters(url)
    host = url.split("/")[2]
    path = url[url.index(host) + len(host) :].split("?")[0]
    return {
        "host": host,
        "path": path,
        "secure": url.startswith("https://"),
        "source": given.get("utm_source"),
        "medium": given.get("utm_medium"),
        "campaign": given["utm_campaign"].upper(),
        "order": int(given["order"]),
    }
