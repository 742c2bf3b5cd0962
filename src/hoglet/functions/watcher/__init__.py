"""The watcher: degrades or disables functions that are slow or keep failing."""
