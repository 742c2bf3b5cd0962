"""Opens the shared services and builds the features over them."""
