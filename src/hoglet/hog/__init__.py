"""The Hog language: scopes, three printers, the standard library, budgets. Pure."""
