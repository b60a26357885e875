"""Deal sync: demand deals as documents of the IAB Tech Lab's Deal Sync API 1.0, and what DSPs say of them."""
