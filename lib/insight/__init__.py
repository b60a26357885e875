"""Insights from reports and deals together, computed from their clients' answers, apart from the screens."""
