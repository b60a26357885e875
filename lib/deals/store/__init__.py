"""Deals in the database: tables, what each noun keeps, what was changed when and by whom."""
