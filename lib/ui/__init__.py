"""Pickers, charts and tables: the parts that the pages are made of."""
