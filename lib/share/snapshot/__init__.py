"""A question and its figures as one document: HTML, PDF or a picture (`render.py`)."""
