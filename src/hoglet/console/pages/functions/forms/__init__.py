"""Forms for the parts of a function besides code, inputs and filters."""
