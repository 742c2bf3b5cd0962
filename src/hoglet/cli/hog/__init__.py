"""``hoglet hog``: run, compile, check, format and measure Hog programs."""
