"""Background work across features: batches become rows and runs, runs become deliveries.

``ingest``: events from the spool to the warehouse. ``delivery``: runs of functions and requests.
``telemetry_outbox``: logs and metrics, exactly once.
"""
