"""A package's targeting: its kinds, in words, as report filters, and the pickers for it."""
