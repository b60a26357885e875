"""Deals: the list, and the drawer in which one is looked at and changed."""
