"""Commands that open a data folder: keys, projects, queues, secrets."""
