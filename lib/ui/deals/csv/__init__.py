"""Packages and deals in CSV files: read, checked, created and changed."""
