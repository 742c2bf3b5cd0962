"""The settings page, a module for each tab."""
