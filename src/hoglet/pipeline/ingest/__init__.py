"""From the spool to the warehouse: parse, transform, match, commit."""
