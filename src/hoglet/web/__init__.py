"""HTTP infrastructure for all packages: bodies, validation, errors, pages, the application."""
