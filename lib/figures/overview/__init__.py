"""The parts of the overview, and of the split below it, as values and texts."""
