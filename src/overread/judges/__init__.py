"""Replies -> verdicts: each file is a judge, found by its name (`contract.py` says what one is)."""
