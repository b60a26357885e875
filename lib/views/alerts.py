"""The store of alerts: a person watches one figure of each saved view that they see, for themselves."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, delete, func, insert, select, update

from lib.database import from_row
from lib.people.tables import made_by
from lib.views.entries import SavedViews, Scope
from lib.views.models import ALERT_RULES, Alert, AlertRule
from lib.views.tables import alert_messages, alerts, saved_views
from lib.wire.errors import BadRequest, UnknownName

MOST_ALERTS = 100
CHECK_SECONDS, CHECK_MINUTES = 10, 15  # a new alert is checked within the first, then every so many minutes
OF_THE_VIEW = ("service", "project", "slicer", "params", "is_shared")
WITH_VIEWS = (
    select(alerts, saved_views.c.name.label("view_name"), *(saved_views.c[name] for name in OF_THE_VIEW))
    .add_columns(saved_views.c.owner.label("view_owner"), saved_views.c.created.label("view_created"))
    .join(saved_views, saved_views.c.id == alerts.c.view_id)
    .order_by(alerts.c.id)
)
FRESH: Mapping[str, Any] = {
    "state": "new", "since": None, "value": None, "low": None, "high": None, "problem": "", "checked": None,
    "rows_key": None,
}  # fmt: skip


@dataclass(frozen=True)
class Alerts:
    """The alerts of one person. Nobody else sees them."""

    scope: Scope

    def mine(self) -> list[Alert]:
        own_alerts = WITH_VIEWS.where(alerts.c.owner == self.scope.person.username)
        rows = self.scope.rows(own_alerts.where(saved_views.c.service == self.scope.service))
        return [self._alert(row) for row in rows if self.scope.owns(row.owner, row.created)]

    def of_view(self, number: int) -> Alert | None:
        """The one on this view; None without."""
        return next((alert for alert in self.mine() if alert.view_id == number), None)

    def watch(
        self, number: int, field: str, figure: Mapping[str, Any], rule: AlertRule, bound: float | None
    ) -> None:
        """Watch this data field of a view, in place of what was watched of it before.

        It is checked soon. BadRequest where the view can't be seen, for a bound that is no number, and beyond
        100 alerts.
        """
        if rule not in ALERT_RULES:
            raise UnknownName("rule", rule, ALERT_RULES)
        if rule != "changed" and (bound is None or not math.isfinite(bound)):
            raise BadRequest("The bound is missing")
        if SavedViews(self.scope).get(number) is None:
            raise BadRequest("This view is not there any more")
        values: dict[str, Any] = {
            **FRESH, "view_id": number, "owner": self.scope.person.username, "created": datetime.now(UTC),
            "field": field, "figure": dict(figure), "rule": rule,
            "bound": None if rule == "changed" else bound,
        }  # fmt: skip
        with self.scope.write() as connection:
            mine = alerts.c.owner == values["owner"]
            same = select(alerts.c.id).where(mine, alerts.c.view_id == number)
            connection.execute(delete(alert_messages).where(alert_messages.c.alert_id.in_(same)))
            result = connection.execute(update(alerts).where(mine, alerts.c.view_id == number).values(values))
            if result.rowcount:
                return
            own = made_by(self.scope.person, alerts.c.owner, alerts.c.created)
            count = select(func.count()).select_from(alerts).where(*own)
            if connection.execute(count).scalar_one() >= MOST_ALERTS:
                raise BadRequest(f"You have {MOST_ALERTS} alerts: remove one first")
            connection.execute(insert(alerts).values(values))

    def remove(self, number: int) -> None:
        """Watch nothing of this view any more."""
        mine = (alerts.c.view_id == number, alerts.c.owner == self.scope.person.username)
        self.scope.execute(delete(alerts).where(*mine))

    def _alert(self, row: Row[Any]) -> Alert:
        """The alert without the view's name and question where that is not seen, and as not checked yet once
        the person may see other rows than at the last check."""
        person = self.scope.person
        is_seen = self.scope.sees_of(row.view_owner, row.view_created, row.is_shared)
        is_seen = is_seen and person.may_see(row.project, row.slicer)
        changes: dict[str, Any] = {} if is_seen else {"view_name": "", "params": {}}
        if row.rows_key != person.rows_key(row.project, row.slicer):
            changes |= FRESH
        return replace(alert_of(row), **changes)


def alert_of(row: Row[Any]) -> Alert:
    """The alert of a row of `WITH_VIEWS`."""
    return from_row(Alert, row)
