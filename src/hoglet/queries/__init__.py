"""Ad hoc queries: the query API and the queries behind editors.

Built on endpoints: shares their compiler, result cache, budgets and query log
(docs/adr/0016-queries-above-endpoints.md).
"""
