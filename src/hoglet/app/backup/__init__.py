"""Online backup of a data folder, and its restore."""
