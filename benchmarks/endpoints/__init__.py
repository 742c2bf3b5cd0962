"""Runs of endpoints against what they are made of; ``__main__`` tells what and how."""
