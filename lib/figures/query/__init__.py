"""The question of a page, and what it comes to: state, clicks, days, filters, comparison, answers."""
