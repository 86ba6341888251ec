"""Where the asking happens."""
