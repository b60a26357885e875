"""A slicer whose days have known figures, alerts on it, and a receiver of their messages."""

import datetime as dt
import hashlib
import hmac
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from conftest import COUNTRIES, DEFINITION, LAST_DAY
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from lib.slicers.warehouse import Warehouse
from lib.views import ViewStore

SLICER, SECRET = ("demo", "weeks"), "0123456789abcdef-secret"
YESTERDAY = {"start": "yesterday", "end": "yesterday"}
IMPS = {"name": "imps", "description": "Impressions", "display_precision": 0, "display_pattern": None}


def imported(home: Path, daily: Sequence[float | None], last: dt.date = LAST_DAY) -> None:
    """A slicer with these impressions on the days up to `last`, half of them in the US; None: no data."""
    days = [last - dt.timedelta(days=len(daily) - 1 - place) for place in range(len(daily))]
    days = [day for day, value in zip(days, daily, strict=True) if value is not None]
    version = f"{daily}{last}"
    daily = [value for value in daily if value is not None]
    times = [dt.datetime.combine(day, dt.time(12), dt.UTC) for day in days for _ in range(2)]
    halves = [value / 2 for value in daily for _ in range(2)]
    columns = {
        "time": times,
        "geo.country": ["US", "DE"] * len(daily),
        "campaign_id": ["1"] * len(times),
        "categories": [["news"]] * len(times),
        "imps": halves,
        "clicks": [0.0] * len(times),
        "revenue": halves,
        "users": ["1"] * len(times),
    }
    warehouse = Warehouse(home / "warehouse")
    mode = "replace" if warehouse.has(*SLICER) else "create"
    with warehouse.writer(*SLICER, DEFINITION, {"country": COUNTRIES}, mode) as writer:
        writer.write(pa.table(columns, schema=DEFINITION.schema()))
        writer.commit("made for a test", version)


def set_up(kept: ViewStore, rule: str = "above", bound: float | None = 100.0, **params: str) -> int:
    """A view of yesterday with an alert on its impressions; returns the view's number."""
    view = kept.views.save(*SLICER, f"View {rule} {bound} {params}", {**YESTERDAY, **params})
    kept.alerts.watch(view.id, "imps", IMPS, rule, bound)
    return view.id


def webhook(address: str) -> dict[str, str]:
    """Settings that send messages to the receiver at this address."""
    return {"alerts_webhook": f"{address}/hook/token-in-path", "alerts_secret": SECRET}


class Receiver:
    """Takes messages, and answers with the next of `answers`, else 204."""

    def __init__(self, *answers: int) -> None:
        self.answers, self.taken = list(answers), []
        self.wrong: list[str] = []
        self.app = Starlette(routes=[Route("/hook/token-in-path", self._take, methods=["POST"])])

    @property
    def events(self) -> list[tuple[str, Any]]:
        """What came: the event, and the figure."""
        return [(message["event"], message["alert"].get("value")) for message in self.taken]

    async def _take(self, request: Request) -> PlainTextResponse:
        sent = await request.body()
        stamp = request.headers["tranche-timestamp"]
        signed = hmac.new(SECRET.encode(), stamp.encode() + b"." + sent, hashlib.sha256).hexdigest()
        if request.headers["tranche-signature"] != f"v1={signed}":
            self.wrong.append("signature")
        if abs(dt.datetime.now(dt.UTC).timestamp() - int(stamp)) > 60:
            self.wrong.append("timestamp")
        status = self.answers.pop(0) if self.answers else 204
        if status < 300:
            self.taken.append(json.loads(sent))
        return PlainTextResponse("", status)
