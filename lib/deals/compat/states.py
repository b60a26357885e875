"""Compares two states of an entity, for services without ETags."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from lib.deals.compat.memory import MemoryEntry, differences, state
from lib.deals.models import Resource
from lib.wire import exact
from lib.wire.errors import Conflict

LONGEST_VALUE = 80


def digest(resource: Resource) -> str:
    """A digest of the fields that can change, used like an ETag."""
    return _digest(resource.entity, resource.raw)


def conflict(
    model: type[Resource], now: Resource, if_match: str | None, memory_entries: Iterable[MemoryEntry]
) -> Conflict:
    """The Conflict with the differences between the state that was read and the current one."""
    read = next((entry for entry in memory_entries if _digest(model.entity, entry.body) == if_match), None)
    if read is None:
        return Conflict("Changed since it was read, so nothing was saved")
    old, new = differences(model.entity, read.body, now.raw)
    told = "; ".join(f"{name} from {_short(old[name])} to {_short(new[name])}" for name in new)
    return Conflict(f"Changed since it was read, so nothing was saved: {told}")


def unchanged_fields(
    body: Mapping[str, Any], before: Resource, resource: Resource, after: Resource
) -> list[str]:
    """The fields of a request that are as they were, and not as they were asked to be."""
    names = [name for name in body if name in after.raw and name in type(after).model_fields]
    values = {name: [getattr(one, name) for one in (before, resource, after)] for name in names}
    return [name for name, (old, target, new) in values.items() if new == old and target != old]


def _digest(entity: str, body: Mapping[str, Any]) -> str:
    sorted_state = dict(sorted(state(entity, body).items()))
    return f'"{sha256(exact.dumps(sorted_state)).hexdigest()[:32]}"'


def _short(value: Any) -> str:
    text = exact.dumps(value).decode()
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
