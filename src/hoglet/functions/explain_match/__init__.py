"""Why an event does or does not run a function."""
