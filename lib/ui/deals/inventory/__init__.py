"""The screen Lists: domain and app lists, and supply files."""
