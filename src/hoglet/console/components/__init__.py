"""Custom elements: Python classes, some with a JavaScript module beside them."""
