"""One file a way of answering; each is found by its name (`contract.py` says what one is)."""
