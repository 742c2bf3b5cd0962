"""The file formats of a project: functions, drafts, endpoints, lists, settings, variables; YAML."""
