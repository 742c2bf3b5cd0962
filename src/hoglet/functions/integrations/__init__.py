"""Stored credentials of other services, which functions use by id.

Programs see an integration's config and a placeholder; the token takes its place in the serving
process, when a request leaves. Source: docs/spec/hog-functions.md#132-globals-and-inputs.
"""
