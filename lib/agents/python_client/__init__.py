"""The Python client, `from tranche import Desk`: a desk by its address and a token, or in this process."""

from lib.agents.python_client.answer import Answer, WhatMoved
from lib.agents.python_client.desk import Desk

__all__ = ["Answer", "Desk", "WhatMoved"]
