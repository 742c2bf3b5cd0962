"""The MCP server: tools for language models over the API, at ``/mcp``."""
