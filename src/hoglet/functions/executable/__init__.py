"""Compiled functions as the pipeline uses them: loading, matching, transforming."""
