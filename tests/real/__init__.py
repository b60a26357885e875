"""Real data that nobody here wrote: imported as somebody would, and asked over every transport."""
