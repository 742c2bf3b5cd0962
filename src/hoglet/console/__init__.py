"""The console: functions and endpoints in a browser, at ``/``."""
