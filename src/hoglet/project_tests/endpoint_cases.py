"""Runs test cases of endpoints on the embedded warehouse, each in its own project."""

import asyncio
from typing import Any
from urllib.parse import quote

from hoglet.kit.errors import HogletError
from hoglet.project_files.documents import EndpointDocument
from hoglet.project_files.formats.endpoint_file import read_file
from hoglet.project_files.model import Objects, ProjectContent
from hoglet.project_files.plan import make_plan
from hoglet.project_files.push import push
from hoglet.project_files.server_project import ServerProject
from hoglet.project_tests.case_events import BadTestFile
from hoglet.project_tests.cases import Case
from hoglet.project_tests.comparison import differences
from hoglet.project_tests.embedded import Embedded
from hoglet.project_tests.outcome import CaseOutcome


class EndpointCases:
    """Runs cases of endpoints.

    Args:
        embedded: the application.
        files: the project, for variables, actions, cohorts and its time zone.
    """

    def __init__(self, embedded: Embedded, files: ProjectContent) -> None:
        self._embedded = embedded
        self._files = files

    async def run(self, case: Case) -> CaseOutcome:
        """Run a case; if the endpoint is rejected, ``error`` of the outcome is the reason."""
        outcome, embedded = CaseOutcome(case), self._embedded
        embedded.clock.at = case.now
        timezone = case.body.get("timezone") or self._files.settings.get("timezone") or "UTC"
        project_id, token = await embedded.new_project(timezone)
        await self._store(case, token)
        document = read_file(case.subject, self._files.objects["variable"])
        outcome.actual = {"columns": None, "rows": None, "error": None}
        try:
            await asyncio.to_thread(self._push, embedded.api(project_id), document)
            await self._query(case, project_id, document["name"], outcome)
        except HogletError as error:
            outcome.actual["error"] = error.detail
            if "error" not in case.body["expect"]:
                outcome.differences = [f"error: {error.detail}"]
                return outcome
        outcome.differences = differences(case.body["expect"], outcome.actual)
        return outcome

    async def _store(self, case: Case, token: str) -> None:
        """Store the events of a case through capture and the pipeline."""
        if not case.events:
            return
        stamp = case.now.isoformat()
        batch = [
            {"distinct_id": "test", "timestamp": stamp, "properties": {}, **event}
            for event in case.events
        ]
        try:
            await self._embedded.call("POST", "/batch/", {"api_key": token, "batch": batch})
        except HogletError as error:
            raise BadTestFile(f"{case.path}:{case.line}: {error.detail}") from None
        await self._embedded.store_events()

    def _push(self, api: Any, document: EndpointDocument) -> None:
        active: EndpointDocument = {**document, "is_active": True}
        endpoints = {document["name"]: active}
        objects: Objects = {
            **self._files.objects,
            "function": {},
            "draft": {},
            "endpoint": endpoints,
        }
        desired = ProjectContent(objects=objects)
        server = ServerProject(api)
        push(server, make_plan(server.project, desired, prune=False))

    async def _query(self, case: Case, project_id: int, name: str, outcome: CaseOutcome) -> None:
        body = {"variables": case.body.get("variables") or {}, "refresh": "force_blocking"}
        path = f"/api/projects/{project_id}/endpoints/{quote(name, safe='')}/run"
        answer = await self._embedded.call("POST", path, body)
        outcome.actual |= {
            "columns": answer.get("columns"),
            "rows": answer.get("results"),
        }
