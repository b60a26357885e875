"""What both APIs share: the error tree, the deadline, one HTTP call."""
