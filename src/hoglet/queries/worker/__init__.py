"""What sandbox workers do for ad hoc queries: everything that reads text of users."""
