"""What can be answered without looking: the parts of the models `chance` and `prior`."""
