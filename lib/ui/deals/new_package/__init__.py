"""New package: the form, what stands beside it, and what becomes of it."""
