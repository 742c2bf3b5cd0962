"""``hoglet test``: cases in files, run without a server by the code that production runs.

Functions run in the sandbox, their requests are answered by the case; endpoints run on an embedded
warehouse that holds the case's events. The clock stands still, so that a case gives the same
result every time.
"""
