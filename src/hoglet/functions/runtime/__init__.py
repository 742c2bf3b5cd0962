"""Running one step of a function inside a sandbox worker."""
