"""Scores -> terminal and page."""
