"""Packages, deals and their targeting in words."""
