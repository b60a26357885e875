"""The parts of the board, and of the split below it, as values and texts."""
