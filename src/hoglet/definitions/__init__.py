"""Property and event definitions: the names, types and descriptions of what a project captures."""
