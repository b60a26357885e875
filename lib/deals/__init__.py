"""Everything about deals: supply packages, demand deals, and the seats and lists that they refer to."""
