"""What Hog values are and how they print, compare, convert and fail (spec/hog-language.md 4-8)."""
