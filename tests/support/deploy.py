"""The deployment files, parsed: what they set and which commands they run."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "Dockerfile"
UNIT = ROOT / "deploy" / "hoglet.service"
COMPOSE = (ROOT / "compose.yaml", ROOT / "compose.cluster.yaml")
WITH_NATS = ROOT / "compose.nats.yaml"
NATS = ROOT / "deploy" / "nats.conf"
PROMETHEUS = ROOT / "deploy" / "prometheus.yml"
ALERTS = ROOT / "deploy" / "alerts.yaml"
DASHBOARD = ROOT / "deploy" / "grafana-dashboard.json"


def instruction(name: str) -> list[str]:
    """The arguments of an instruction of the Dockerfile, one text for each time it is used."""
    return re.findall(rf"^{name} (.+)$", DOCKERFILE.read_text(), re.MULTILINE)


def command(text: str) -> list[str]:
    """The JSON list at the end of ``CMD`` or ``HEALTHCHECK … CMD``."""
    return json.loads(text[text.index("[") :])


def image_environment() -> dict[str, str]:
    """The ``HOGLET_*`` variables that the image sets."""
    words = " ".join(instruction("ENV")).split()
    return dict(word.split("=", 1) for word in words if word.startswith("HOGLET_"))
