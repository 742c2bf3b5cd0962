"""Where features meet at work time: batches become rows and runs, runs become deliveries.

``outbox``: logs and metrics, exactly once. ``executor*``: runs of functions and their requests.
"""
