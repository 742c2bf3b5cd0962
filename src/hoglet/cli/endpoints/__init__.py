"""``hoglet endpoints``: endpoints as files, their versions and runs."""
