"""Routes of users, projects and public clients."""
