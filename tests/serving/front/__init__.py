"""The checks of every request before the desk or an API."""
