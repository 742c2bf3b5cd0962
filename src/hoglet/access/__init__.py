"""Who may do what: organizations, projects, users, keys, the guard, and the bootstrap routes."""
