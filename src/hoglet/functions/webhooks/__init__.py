"""Incoming webhooks and site function scripts."""
