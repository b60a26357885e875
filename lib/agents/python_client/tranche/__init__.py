"""Tranche from Python: questions about slicers as pandas frames and Arrow, and deals.

    from tranche import Desk

    desk = Desk("https://desk.example", token="…")
    print(desk.ask("demo/delivery", split="granularity_day", fields="imps").frame)

Every failure is a TrancheError, whose text says what would be right.
"""

from lib.agents.python_client import Answer, Desk, WhatMoved
from lib.deals.models import CreateDemandDeals, DemandDeal, SupplyPackage
from lib.reporting.models import DataFilter
from lib.slicers.models import Slicer
from lib.wire.errors import (
    AccessError,
    BadRequest,
    Invalid,
    ServiceProblem,
    Throttled,
    TrancheError,
    UnknownName,
)
from lib.wire.filters import Filter

__all__ = [
    "AccessError", "Answer", "BadRequest", "CreateDemandDeals", "DataFilter", "DemandDeal", "Desk", "Filter",
    "Invalid", "ServiceProblem", "Slicer", "SupplyPackage", "Throttled", "TrancheError", "UnknownName",
    "WhatMoved",
]  # fmt: skip
