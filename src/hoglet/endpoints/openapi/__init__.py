"""OpenAPI documents of endpoints and projects."""
