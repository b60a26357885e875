"""TODO slicers."""
