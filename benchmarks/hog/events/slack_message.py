"""``slack_message.hog`` in hand-written Python."""

import json


def main(given):
    person, event = given["person"], given["event"]
    known, properties = person["properties"], event["properties"]
    name = known.get("first_name") or known.get("email") or "Somebody"
    lines = [
        f"• {item['quantity']} × {item['name']} ({item['price']} {properties['currency']})"
        for item in properties["items"]
    ]
    body = {
        "channel": given["inputs"]["channel"],
        "icon_emoji": ":hedgehog:",
        "blocks": [
            {"type": "header", "text": {"type": "plain_text", "text": f"{name} placed an order"}},
            {"type": "section", "text": {"type": "mrkdwn", "text": "\n".join(lines)}},
            {
                "type": "actions",
                "elements": [
                    {
                        "type": "button",
                        "url": person["url"],
                        "text": {"type": "plain_text", "text": "View person"},
                    }
                ],
            },
        ],
    }
    return {
        "method": "POST",
        "url": "https://slack.com/api/chat.postMessage",
        "body": json.dumps(body, separators=(",", ":"), ensure_ascii=False),
    }
