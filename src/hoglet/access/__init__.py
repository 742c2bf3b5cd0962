"""Organizations, projects, users, API keys, authorization, and routes for client startup."""
