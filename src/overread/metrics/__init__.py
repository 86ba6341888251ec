"""Verdicts -> scores: each file with `values` or `score` is a metric (`contract.py` says what one is)."""
