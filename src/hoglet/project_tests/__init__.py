"""``hoglet test``: runs test cases in files with the production code, without a server.

Functions run in the sandbox with the responses that the case defines; endpoints run on an embedded
warehouse with the case's events. The clock is fixed, so that results are reproducible.
"""
