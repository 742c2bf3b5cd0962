"""Static cohorts: lists of persons, and the uploads and queries that fill them."""
