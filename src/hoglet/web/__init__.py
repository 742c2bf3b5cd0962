"""HTTP manners shared by every room: bodies, validation, errors, pages, the application itself."""
