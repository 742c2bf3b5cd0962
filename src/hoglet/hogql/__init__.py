"""HogQL to ClickHouse SQL with bound values and enforced tenancy. Pure."""
