"""Analysis of a query when it is saved: columns, types, variables."""
