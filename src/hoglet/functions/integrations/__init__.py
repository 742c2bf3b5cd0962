"""Stored credentials of other services, referenced by id.

Programs see an integration's config and a placeholder, which the server replaces by the token when
a request leaves. Source: docs/spec/hog-functions.md#132-globals-and-inputs.
"""
