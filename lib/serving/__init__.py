"""TODO serving."""
