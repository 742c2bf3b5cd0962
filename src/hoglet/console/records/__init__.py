"""The shapes of the API's records and responses that pages show.

Only keys that pages read are named; records have more, which forms preserve.
"""
