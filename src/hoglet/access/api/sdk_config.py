"""Routes of SDKs besides capture: flags, decide, remote configuration, surveys and the like.

hoglet has no feature flags, surveys or experiments, so the responses are empty, in the shapes that
SDKs expect.

Source: docs/spec/hog-functions.md#14-capture, last table.
"""

from typing import Annotated, Any, NotRequired, TypedDict

from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import access_of, requires_key
from hoglet.access.principals import Principal, Project
from hoglet.access.schemas import SiteApp
from hoglet.kit.clock import new_id
from hoglet.kit.errors import NotFound, Unauthenticated
from hoglet.kit.json import JsonObject, dump_json, is_object
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import OpenApiObject, describe, extensible, text
from hoglet.web.request_body import parse_json, read_body
from hoglet.web.router import Depends, Router

router = Router()

_CACHE = {"Cache-Control": "public, max-age=300"}  # 5 minutes


@extensible
class RemoteConfig(TypedDict):
    """The configuration that posthog-js loads at startup."""

    token: str
    supportedCompression: list[str]
    hasFeatureFlags: bool
    captureDeadClicks: bool
    capturePerformance: bool
    autocapture_opt_out: bool
    autocaptureExceptions: bool
    analytics: dict[str, str]
    elementsChainAsString: bool
    sessionRecording: bool
    heatmaps: bool
    surveys: bool
    defaultIdentifiedOnly: bool
    isAuthenticated: bool
    toolbarParams: JsonObject
    siteApps: list[SiteApp]


@extensible
class Flags(TypedDict):
    """No flags: the older form has ``featureFlags``, the newer ``flags``."""

    featureFlags: NotRequired[dict[str, bool]]
    featureFlagPayloads: NotRequired[JsonObject]
    flags: NotRequired[JsonObject]
    errorsWhileComputingFlags: bool
    requestId: NotRequired[str]
    quotaLimited: NotRequired[list[str]]


@extensible
class FlagDefinitions(TypedDict):
    """Flag definitions for local evaluation: always empty."""

    flags: list[Any]
    group_type_mapping: JsonObject
    cohorts: JsonObject


@extensible
class Surveys(TypedDict):
    """The surveys of a project: always none."""

    surveys: list[Any]


@extensible
class EarlyAccessFeatures(TypedDict):
    """The features that visitors can opt into: always none."""

    earlyAccessFeatures: list[Any]


@extensible
class WebExperiments(TypedDict):
    """The experiments without code: always none."""

    experiments: list[Any]


@extensible
class ProductTours(TypedDict):
    """The tours of a project: always none."""

    product_tours: list[Any]


TOKEN_BODY: OpenApiObject = {
    "type": "object",
    "properties": {"token": {"type": "string"}, "distinct_id": {"type": "string"}},
}
_TOKEN = text("token", "The project's token, if the body has none.")


@router.post("/flags")
@describe({200: Flags}, body=TOKEN_BODY, query=(text("v"), text("config"), _TOKEN), problems=(401,))
async def flags(request: Request) -> Response:
    """No feature flags; ``v=2`` selects the newer shape, ``config=true`` adds the configuration."""
    project = await _project_of(request)
    if request.query_params.get("v") != "2":
        return JsonResponse(_no_flags())
    answer: Flags = {
        "flags": {},
        "errorsWhileComputingFlags": False,
        "requestId": str(new_id()),
        "quotaLimited": [],
    }
    if request.query_params.get("config") == "true":
        return JsonResponse({**answer, **await _config(request, project)})
    return JsonResponse(answer)


@router.post("/decide")
@describe({200: Flags}, body=TOKEN_BODY, query=(_TOKEN,), problems=(401,))
async def decide(request: Request) -> Response:
    """No feature flags, and the configuration (the older route)."""
    project = await _project_of(request)
    return JsonResponse({**_no_flags(), **await _config(request, project)})


@router.get("/array/{token}/config")
@describe({200: RemoteConfig})
async def remote_config(request: Request, token: str) -> Response:
    """The configuration for posthog-js."""
    return JsonResponse(await _config(request, await _by_token(request, token)), headers=_CACHE)


@router.get("/array/{token}/config.js")
@describe({200: "application/javascript"})
async def remote_config_script(request: Request, token: str) -> Response:
    """The configuration as a script, with the site functions that posthog-js starts."""
    project = await _by_token(request, token)
    config = _inline(await _config(request, project))
    scripts = await access_of(request).providers.site_scripts(project.id)
    apps = ",".join([_site_app(identifier, script) for identifier, script in scripts])
    script = (
        "(function(){window._POSTHOG_REMOTE_CONFIG=window._POSTHOG_REMOTE_CONFIG||{};"
        f"window._POSTHOG_REMOTE_CONFIG[{_inline(token)}]={{config:{config},siteApps:[{apps}]}};"
        "})();"
    )
    return Response(script, media_type="application/javascript", headers=_CACHE)


@router.get("/flags/definitions")
@router.get("/api/feature_flag/local_evaluation")
@describe({200: FlagDefinitions})
async def local_evaluation(_principal: Annotated[Principal, Depends(requires_key())]) -> Response:
    """Flag definitions for local evaluation in server SDKs: always empty.

    Newer SDKs use the first path; without a response they log an error every 30 seconds.
    """
    return JsonResponse({"flags": [], "group_type_mapping": {}, "cohorts": {}})


@router.get("/api/surveys")
@describe({200: Surveys}, query=(_TOKEN,), problems=(401,))
async def surveys(request: Request) -> Response:
    """The surveys that SDKs ask for by the project's token: always none."""
    await _project_of_query(request)
    return JsonResponse({"surveys": []})


@router.get("/api/early_access_features")
@describe({200: EarlyAccessFeatures}, query=(_TOKEN,), problems=(401,))
async def early_access_features(request: Request) -> Response:
    """The features that SDKs ask for by the project's token: always none."""
    await _project_of_query(request)
    return JsonResponse({"earlyAccessFeatures": []})


@router.get("/api/web_experiments")
@describe({200: WebExperiments}, query=(_TOKEN,), problems=(401,))
async def web_experiments(request: Request) -> Response:
    """The experiments that posthog-js asks for by the project's token: always none."""
    await _project_of_query(request)
    return JsonResponse({"experiments": []})


@router.get("/api/product_tours")
@describe({200: ProductTours}, query=(_TOKEN,), problems=(401,))
async def product_tours(request: Request) -> Response:
    """The tours that posthog-js asks for by the project's token: always none."""
    await _project_of_query(request)
    return JsonResponse({"product_tours": []})


def _no_flags() -> Flags:
    return {"featureFlags": {}, "featureFlagPayloads": {}, "errorsWhileComputingFlags": False}


def _site_app(identifier: str, script: str) -> str:
    start = f"function(config){{return {script.strip()}().init(config)}}"
    return f"{{id:{_inline(identifier)},init:{start}}}"


def _inline(value: Any) -> str:
    """JSON that is also safe inside a script element."""
    return dump_json(value).decode().replace("<", "\\u003c")


async def _config(request: Request, project: Project) -> RemoteConfig:
    return {
        "token": project.api_token,
        "supportedCompression": ["gzip", "gzip-js"],
        "hasFeatureFlags": False,
        "captureDeadClicks": False,
        "capturePerformance": False,
        "autocapture_opt_out": False,
        "autocaptureExceptions": False,
        "analytics": {"endpoint": "/i/v0/e/"},
        "elementsChainAsString": True,
        "sessionRecording": False,
        "heatmaps": False,
        "surveys": False,
        "defaultIdentifiedOnly": True,
        "isAuthenticated": False,
        "toolbarParams": {},
        "siteApps": await access_of(request).providers.site_apps(project.id),
    }


async def _by_token(request: Request, token: str) -> Project:
    project = await access_of(request).project_by_token(token)
    if project is None:
        raise NotFound
    return project


async def _project_of(request: Request) -> Project:
    """The project of the token in the body (``token``, ``api_key``) or the query string."""
    unpack = access_of(request).providers.unpack
    encoding = request.headers.get("content-encoding", "")
    body = parse_json(unpack(await read_body(request), request.query_params, encoding))
    fields = body if is_object(body) else {}
    token = fields.get("token") or fields.get("api_key") or request.query_params.get("token")
    return await _by_public_token(request, token)


async def _project_of_query(request: Request) -> Project:
    return await _by_public_token(request, request.query_params.get("token"))


async def _by_public_token(request: Request, token: Any) -> Project:
    if not token:
        raise Unauthenticated("The project token is missing.", code="missing_api_key")
    project = await access_of(request).project_by_token(str(token))
    if project is None:
        raise Unauthenticated("The project token is not valid.", code="invalid_api_key")
    return project
