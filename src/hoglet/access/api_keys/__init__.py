"""Personal API keys and project secret keys over the API."""
