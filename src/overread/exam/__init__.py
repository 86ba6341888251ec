"""Scripts -> dialogues, questions and key: how a benchmark writes, and what every condition makes of it."""
