"""The people of the demo. Their password is public, so it works in demo mode only."""

NAMES = ("viewer", "manager", "admin")
PASSWORD = "demo"  # noqa: S105  (shown on the sign-in page; demo mode listens on loopback alone)
