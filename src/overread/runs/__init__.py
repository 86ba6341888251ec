"""The run folder: its parts, the replies as they come, and which of them counts."""
