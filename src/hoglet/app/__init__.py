"""The composition root: builds every room from the settings, serves, and stops cleanly."""
