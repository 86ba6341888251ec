"""Models in foreign environments: the worker's process, the exchange with it, and what may be told of its stderr."""
