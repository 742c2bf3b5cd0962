"""The standard library: one table, one module a theme (spec/hog-language.md section 9)."""
