"""What every request passes before the desk or an API gets it."""
