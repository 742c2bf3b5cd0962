"""The composition root: builds all services from the settings, starts and stops them."""
