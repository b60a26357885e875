"""The screen Audience."""
