"""Ad hoc queries: the query API and the queries behind editors.

The layer stands above endpoints and shares their engine room: one compiler, one cache of results,
one budget, one query log (docs/adr/0016-queries-above-endpoints.md).
"""
