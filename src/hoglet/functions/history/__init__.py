"""Change history of functions: versions, differences, restore."""
