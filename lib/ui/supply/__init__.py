"""What Deals, New package and Lists share: the deals service's data, page by page, and its words."""
