"""Cards of named models: what is known of each, how it is loaded, and the evidence that it has run."""
