"""The stops of the tour: one module for each kind of thing a program does."""
