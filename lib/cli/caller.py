"""The user of the command line, for the audit log."""

import getpass


def caller() -> str:
    """`command line (root)`: the account of the operating system, where that is known."""
    try:
        return f"command line ({getpass.getuser()})"
    except (KeyError, OSError):
        return "command line"
