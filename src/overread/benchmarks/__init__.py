"""One file an exam: cases -> scripts; each is found by its name."""
