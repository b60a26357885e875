"""Find the values of key fields that explain the difference between two periods.

`explain.explained` asks through whatever answers audience questions, and is arithmetic otherwise. Formulas:
docs/computation.md, What moved.
"""
