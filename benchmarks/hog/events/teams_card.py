"""``teams_card.hog`` in hand-written Python."""


def fact(title, value):
    return {"title": title, "value": "unknown" if value is None else str(value)}


def main(given):
    q, event = given["person"]["properties"], given["event"]
    facts = [
        fact("Name", f"{q['first_name']} {q['last_name']}"),
        fact("Plan", q.get("plan")),
        fact("Orders", q.get("orders")),
        fact("City", q["address"].get("city")),
        fact("Company", given["groups"]["company"]["properties"].get("name")),
        fact("Job", q.get("job_title")),
    ]
    style = "good" if event["properties"]["amount"] >= 200 else "default"
    content = {
        "type": "AdaptiveCard",
        "version": "1.5",
        "body": [
            {"type": "TextBlock", "text": f"**{event['event']}**", "style": style},
            {"type": "FactSet", "facts": facts},
        ],
        "actions": [{"type": "Action.OpenUrl", "title": "Open", "url": given["person"]["url"]}],
    }
    kind = "application/vnd.microsoft.card.adaptive"
    return {
        "url": given["inputs"]["url"],
        "method": "POST",
        "headers": {"Content-Type": "application/json"},
        "body": {"type": "message", "attachments": [{"contentType": kind, "content": content}]},
    }
