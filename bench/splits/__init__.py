"""The parts of bench/audience.py: rows, questions, the tools that answer them, and the report."""
