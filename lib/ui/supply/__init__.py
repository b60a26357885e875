"""Shared by Deals, New package and Lists: the deals service's data, page by page, and its words."""
