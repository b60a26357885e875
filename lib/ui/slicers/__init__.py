"""The screen Slicers."""
