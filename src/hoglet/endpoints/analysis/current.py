"""Analyzes saved versions with the project's current definitions.

The meaning of a query depends on the project: ``sum(properties.price)`` cannot run until an event
has a numeric price. So records show an analysis with the current definitions, not the one made at
the last save.

Source: docs/spec/data-and-queries.md#24-what-the-type-does-to-queries.
"""

from hashlib import blake2b
from typing import Any
from uuid import UUID

import msgspec

from hoglet.access.principals import Project
from hoglet.endpoints.analysis.analyzer import EVERY_SYSTEM_TABLE, QueryAnalyzer
from hoglet.endpoints.analysis.model import to_json
from hoglet.endpoints.repository import FoundEndpoint
from hoglet.endpoints.worker.compiler import QueryCompiler
from hoglet.kit.cache import BoundedCache
from hoglet.kit.errors import HogletError

type Json = dict[str, Any]

_CAPACITY = 2_000


class CurrentAnalyses:
    """Analyzes versions again when the definitions of their project have changed.

    Concurrency: safe within one event loop; two callers may analyze the same version at once.
    """

    def __init__(self, compiler: QueryCompiler, analyser: QueryAnalyzer) -> None:
        self._compiler = compiler
        self._analyser = analyser
        self._known = BoundedCache[UUID, tuple[bytes, Json]](_CAPACITY)

    async def show(self, project: Project, found: FoundEndpoint) -> FoundEndpoint:
        """The same version with its current analysis, for display only; it is not stored.

        Returns the stored analysis for a version that cannot be analyzed at the moment, and for a
        materialized one, whose table was built from that analysis.
        """
        if found.materialization is None:
            try:
                found.version.analysis = await self._analysis(project, found)
            except HogletError:
                return found
        return found

    async def _analysis(self, project: Project, found: FoundEndpoint) -> Json:
        version = found.version
        context = await self._compiler.context(project, system_tables=EVERY_SYSTEM_TABLE)
        parts = [context, version.query, version.bucket_overrides]
        seen = blake2b(msgspec.json.encode(parts, order="sorted"), digest_size=16).digest()
        known = self._known.get(version.id)
        if known is not None and known[0] == seen:
            return known[1]
        fresh = await self._analyser.analyse(project, version.query, version.bucket_overrides)
        analysis = to_json(fresh)
        self._known.put(version.id, (seen, analysis))
        return analysis
