"""Alembic's scripts: `env.py` and one revision per change of the tables."""
