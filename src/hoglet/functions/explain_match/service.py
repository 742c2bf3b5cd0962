"""Explains whether an event matches a function, with the conditions that production evaluates."""

from collections.abc import Awaitable, Callable, Iterator
from uuid import UUID

import msgspec

from hoglet.access.principals import ProjectScope
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.explain_match.messages import (
    ExplainedCondition,
    ExplainedRun,
    Explanation,
    ExplanationRequest,
)
from hoglet.functions.explain_match.run_conditions import (
    as_seen,
    failures,
    mapping_failures,
    run_failures,
    status_failures,
)
from hoglet.functions.explain_match.schemas import (
    MatchedEvent,
    MatchExplanation,
    MatchFailure,
    MatchMapping,
    MatchMasking,
    check_keys,
    read_event_uuid,
    read_inline,
)
from hoglet.functions.explain_match.subject import Subject, check_scope, read_subject
from hoglet.functions.json_types import EventGlobal, Globals
from hoglet.functions.masking import find_counter, masked_allowance
from hoglet.functions.runtime.globals import project_globals, source_globals
from hoglet.functions.service import FunctionService
from hoglet.functions.tables import HogFunctionRow
from hoglet.functions.test_runs.configuration import find_function
from hoglet.functions.test_runs.globals import read_globals
from hoglet.kit.clock import iso_z
from hoglet.kit.errors import Invalid, NotFound
from hoglet.kit.json import JsonObject
from hoglet.sandbox import Sandbox, SandboxCrashed, SandboxTimedOut

# The path of an operation, so that the server does not import what only workers run.
_EXPLAIN = "hoglet.functions.worker_operations:explain_match"

type FindEvent = Callable[[int, UUID], Awaitable[Globals | None]]
"""Project id and UUID to the globals of a stored event: ``{"event", "person"?, "groups"}``."""

_SECONDS = 8.0  # a filter can take 5 s; beyond that, the worker is killed


class MatchExplainer:
    """Explains matches.

    Args:
        functions: the functions.
        sandbox: runs ``worker_operations.explain_match``.
        find_event: looks up stored events.
        site_url: address of this server, for the globals.
    """

    def __init__(
        self,
        functions: FunctionService,
        sandbox: Sandbox,
        find_event: FindEvent,
        site_url: str,
    ) -> None:
        self._functions = functions
        self._sandbox = sandbox
        self._find_event = find_event
        self._site_url = site_url

    async def explain(
        self, scope: ProjectScope, function_id: str, body: JsonObject
    ) -> MatchExplanation:
        """Explain one match; nothing is stored or counted.

        Args:
            scope: the caller and project.
            function_id: the id of a stored function, or ``new`` with a configuration.
            body: ``{"event_uuid"}`` or ``{"event", "person", "groups"}``, and ``configuration``.

        Returns:
            A ``MatchExplanation``.

        Raises:
            NotFound: no such function.
            Invalid: an invalid configuration or event.
            Forbidden: the key lacks the scope for a configuration or for stored events.
        """
        check_keys(body)
        row = await find_function(self._functions, scope, function_id)
        if row is None and function_id != "new":
            raise NotFound
        subject = await read_subject(self._functions, scope, row, body)
        uuid = read_event_uuid(body)
        run = await self._globals(scope, subject.function, uuid, body)
        run, source, notes = as_seen(subject.function, run, is_stored=uuid is not None)
        explanation = await self._evaluate(scope, subject, run)
        return await self._answer(
            subject, row, explanation, source, event=_matched(run["event"]), notes=notes
        )

    async def _globals(
        self,
        scope: ProjectScope,
        function: ExecutableFunction,
        uuid: UUID | None,
        body: JsonObject,
    ) -> Globals:
        project = project_globals(
            project_id=scope.project.id, name=scope.project.name, site_url=self._site_url
        )
        source = source_globals(
            project_url=project["url"], function_id=function.id, name=function.name
        )
        if uuid is None:
            return read_globals(
                read_inline(body),
                project=project,
                source=source,
                now=self._functions.clock.now(),
                name_properties=scope.project.person_display_name_properties,
            )
        check_scope(scope, "query:read")
        stored = await self._find_event(scope.project.id, uuid)
        if stored is None:
            detail = (
                f"There is no stored event {uuid}. An event can be found a moment after its capture"
            )
            attr = "event_uuid" if body.get("event_uuid") is not None else "event"
            raise Invalid(f"{detail}.", code="does_not_exist", attr=attr)
        return {**stored, "project": project, "source": source}

    async def _evaluate(self, scope: ProjectScope, subject: Subject, run: Globals) -> Explanation:
        tests = scope.project.test_account_filters
        request = ExplanationRequest(
            function=subject.function,
            globals=run,
            filters=subject.filters,
            mapping_filters=subject.mapping_filters,
            test_accounts=[
                f"project.test_account_filters[{index}]"
                for index, item in enumerate(tests)
                if isinstance(item, dict)
            ],
        )
        try:
            answer = await self._sandbox.call(
                _EXPLAIN, msgspec.to_builtins(request), deadline=_SECONDS
            )
        except (SandboxTimedOut, SandboxCrashed) as error:
            return Explanation(own=ExplainedRun(matched=False), error=error.detail)
        return msgspec.convert(answer, Explanation)

    async def _answer(
        self,
        subject: Subject,
        row: HogFunctionRow | None,
        explanation: Explanation,
        source: ExplainedCondition | None,
        *,
        event: MatchedEvent,
        notes: list[str],
    ) -> MatchExplanation:
        function, own = subject.function, explanation.own
        conditions = ([source] if source else []) + own.conditions
        failed: list[MatchFailure] = [each for part in conditions for each in failures(part)]
        matched = own.matched and (source is None or source.matched)
        masking, mappings = None, None
        if explanation.mappings is None:
            masking = await self._masking(function, own) if matched else None
            runs = [list(run_failures(own, masking, ""))] if matched else []
        else:
            mappings = await self._mappings(function, explanation.mappings, matched=matched)
            runs = list(_mapping_runs(mappings, explanation.mappings)) if matched else []
            if matched and not runs:
                pairs = zip(mappings, explanation.mappings, strict=True)
                failed = [each for pair in pairs for each in mapping_failures(*pair)]
        if explanation.error is not None and not failed:
            failed = [{"kind": "filters", "path": "filters", "reason": explanation.error}]
        stopped = list(status_failures(row))
        failed += [each for run in runs for each in run] + stopped
        would_run = not all(runs) and not stopped  # a run without failures is an empty list
        return {
            "matched": bool(runs),
            "would_run": would_run,
            "reason": None if would_run else _first(failed),
            "failed": failed,
            "conditions": msgspec.to_builtins(conditions),
            "mappings": mappings,
            "masking": masking,
            "event": event,
            "notes": notes,
        }

    async def _mappings(
        self, function: ExecutableFunction, explained: list[ExplainedRun], *, matched: bool
    ) -> list[MatchMapping]:
        answer: list[MatchMapping] = []
        for index, (mapping, run) in enumerate(
            zip(function.mappings or (), explained, strict=True)
        ):
            runs = run.matched and not mapping.disabled
            answer.append(
                {
                    "index": index,
                    "name": mapping.name,
                    "disabled": mapping.disabled,
                    "matched": runs,
                    "conditions": msgspec.to_builtins(run.conditions),
                    "masking": await self._masking(function, run) if matched and runs else None,
                }
            )
        return answer

    async def _masking(
        self, function: ExecutableFunction, run: ExplainedRun
    ) -> MatchMasking | None:
        """The counter of a run's hash, as the next event would find it; it is not incremented."""
        if not function.masking or run.mask is None:
            return None
        counter, now = None, self._functions.clock.now()
        if function.id != "new":
            async with self._functions.database.read() as session:
                counter = await find_counter(session, UUID(function.id), run.mask, now)
        count = 0 if counter is None else counter.count
        threshold = function.masking.get("threshold") or None
        return {
            "masked": masked_allowance(count, count + 1, threshold) == 0,
            "count": count,
            "threshold": threshold,
            "ttl": int(function.masking.get("ttl") or 1),
            "expires_at": None if counter is None else iso_z(counter.expires_at),
        }


def _matched(event: EventGlobal) -> MatchedEvent:
    return {
        "uuid": str(event.get("uuid") or ""),
        "event": str(event.get("event") or ""),
        "distinct_id": str(event.get("distinct_id") or ""),
        "timestamp": str(event.get("timestamp") or ""),
    }


def _mapping_runs(
    mappings: list[MatchMapping], explained: list[ExplainedRun]
) -> Iterator[list[MatchFailure]]:
    """For each mapping that matches, what keeps its run from starting."""
    for mapping, run in zip(mappings, explained, strict=True):
        if mapping["matched"]:
            yield list(run_failures(run, mapping["masking"], f"mappings[{mapping['index']}]."))


def _first(failed: list[MatchFailure]) -> str | None:
    return f"{failed[0]['path']}: {failed[0]['reason']}" if failed else None
