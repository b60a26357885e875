"""The list of packages and deals: its rows, columns, health, saved lists and CSV."""
