"""What happens between an event and the end of a run. Pure: importable in a sandbox worker."""
