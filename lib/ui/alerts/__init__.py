"""Alerts that fire, on every screen and on the first one."""
