"""What hospitals and datasets ship, read as cases; `contract` says what an archive is."""
