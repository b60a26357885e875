"""The people of the demo: everybody knows their password, so outside of demo mode it opens nothing."""

NAMES = ("viewer", "manager", "admin")
PASSWORD = "demo"  # noqa: S105  (shown on the sign-in page; demo mode listens on loopback alone)
