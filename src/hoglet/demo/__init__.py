"""The demo: real departures through capture, functions and endpoints, checked against the CSV.

It uses hoglet only as a user would: the command line, the HTTP API and the official SDK.
"""
