"""What the report tells beside packages and deals: volume, prices, and the way from Audience."""
