"""What saving learns of a query: columns, types, variables."""
