"""Who uses the command line, as the audit log names them."""

import getpass


def caller() -> str:
    """`command line (root)`: the account of the operating system, where that is known."""
    try:
        return f"command line ({getpass.getuser()})"
    except (KeyError, OSError):
        return "command line"
