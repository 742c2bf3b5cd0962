"""Long searches for crashes, outside the test suite."""
