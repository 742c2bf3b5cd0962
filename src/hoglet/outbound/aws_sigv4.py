"""AWS Signature Version 4 for outbound requests.

The host, the content type and every ``X-Amz-`` header are signed; proxies may change others.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html.
"""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import override
from urllib.parse import quote, unquote_to_bytes

import msgspec

from hoglet.outbound.targets import Target

_ALGORITHM = "AWS4-HMAC-SHA256"
_S3 = "s3"  # S3 encodes paths once and requires the hash of the body in a header


class AwsSigV4(msgspec.Struct, frozen=True):
    """Credentials, region and service of a signature; its ``repr`` hides the secrets."""

    access_key_id: str
    secret_access_key: str
    region: str
    service: str
    session_token: str | None = None

    @override
    def __repr__(self) -> str:
        return f"AwsSigV4({self.access_key_id!r}, {self.region!r}, {self.service!r})"


def signed_headers(
    signer: AwsSigV4,
    target: Target,
    *,
    method: str,
    headers: Mapping[str, str],
    body: bytes,
    now: datetime,
) -> dict[str, str]:
    """The headers with the signature; existing headers with the same names are replaced.

    Args:
        signer: credentials, region and service.
        target: where the request goes; path and query are signed as sent.
        method: the HTTP method in upper case.
        headers: without ``Host``.
        body: empty for none.
        now: aware; AWS tolerates a difference of a few minutes.
    """
    stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    body_hash = hashlib.sha256(body).hexdigest()
    sent = _with_own(headers, _own_headers(signer, stamp, body_hash))
    covered = _covered(sent, target.authority)
    names = ";".join(covered)
    lines = [f"{name}:{value}" for name, value in covered.items()]
    path, query = _canonical_path(target, signer.service), _canonical_query(target)
    request = "\n".join([method, path, query, *lines, "", names, body_hash])
    scope = f"{stamp[:8]}/{signer.region}/{signer.service}/aws4_request"
    digest = hashlib.sha256(request.encode()).hexdigest()
    signature = _sign(signer, stamp[:8], f"{_ALGORITHM}\n{stamp}\n{scope}\n{digest}")
    credential = f"Credential={signer.access_key_id}/{scope}"
    authorization = f"{_ALGORITHM} {credential}, SignedHeaders={names}, Signature={signature}"
    return sent | {"Authorization": authorization}


def _own_headers(signer: AwsSigV4, stamp: str, body_hash: str) -> dict[str, str]:
    """The headers that belong to the signature, without the signature itself."""
    own = {"X-Amz-Date": stamp}
    if signer.session_token:
        own["X-Amz-Security-Token"] = signer.session_token
    if signer.service == _S3:
        own["X-Amz-Content-Sha256"] = body_hash
    return own


def _with_own(headers: Mapping[str, str], own: dict[str, str]) -> dict[str, str]:
    replaced = {name.lower() for name in own} | {"authorization"}
    return {name: value for name, value in headers.items() if name.lower() not in replaced} | own


def _covered(headers: Mapping[str, str], host: str) -> dict[str, str]:
    """The headers to sign, with names in lower case and sorted, and values without extra spaces."""
    chosen = {"host": host}
    for name, value in headers.items():
        lowered = name.lower()
        if lowered == "content-type" or lowered.startswith("x-amz-"):
            chosen[lowered] = " ".join(value.split())
    return dict(sorted(chosen.items()))


def _canonical_path(target: Target, service: str) -> str:
    path = target.origin_form.partition("?")[0]
    if service == _S3:
        return "/".join(map(_encoded, path.split("/")))
    parts = [part for part in path.split("/") if part]
    end = "/" if path.endswith("/") and parts else ""
    return quote("/" + "/".join(_encoded(part) for part in parts) + end, safe="/-_.~")


def _canonical_query(target: Target) -> str:
    query = target.origin_form.partition("?")[2]
    pairs = [part.partition("=") for part in query.split("&") if part]
    # by name, then value: as text, "a1=2" would come before "a=1"
    ordered = sorted((_encoded(name), _encoded(value)) for name, _, value in pairs)
    return "&".join(f"{name}={value}" for name, value in ordered)


def _encoded(text: str) -> str:
    """Canonical percent encoding, whatever encoding the URL uses."""
    return quote(unquote_to_bytes(text), safe="-_.~")


def _sign(signer: AwsSigV4, day: str, text: str) -> str:
    key = f"AWS4{signer.secret_access_key}".encode()
    for part in (day, signer.region, signer.service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.new(key, text.encode(), "sha256").hexdigest()
