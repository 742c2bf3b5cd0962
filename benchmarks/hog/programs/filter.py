import json
import re
from pathlib import Path

GLOBALS = json.loads(Path(__file__).with_name("filter.globals.json").read_text())
TEST = re.compile("@test")


def main(write):
    matched = 0
    for _ in range(1000):
        event = GLOBALS["event"]
        properties = event["properties"]
        if (
            event["event"] == "order placed"
            and properties["plan"] in ("pro", "team")
            and (properties["amount"] > 100 or "/checkout" in properties["url"])
            and not TEST.search(properties["email"])
        ):
            matched += 1
    write(str(matched))
