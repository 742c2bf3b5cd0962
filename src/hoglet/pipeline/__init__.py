"""Background work that joins features: batches become rows and runs, runs become deliveries.

``ingest``: from the spool to the warehouse. ``delivery``: runs of functions and their requests.
``telemetry_outbox``: logs and metrics, exactly once.
"""
