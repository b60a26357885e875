"""The slicers and people that ship, so that a fresh clone has something to show."""
