"""Changes of packages and deals in words: each field before and after."""

from lib.deals.models import EntityChange
from lib.figures.deals import field_text
from lib.figures.deals.field_text import USUAL, Prices

ACTION_WORDS = {"created": "Created", "removed": "Deleted", "seen": "Opened here for the first time"}


def sentences(change: EntityChange, money: Prices = USUAL) -> list[str]:
    """A sentence for each field that a change touched."""
    if change.action in ACTION_WORDS:
        return [ACTION_WORDS[change.action]]
    before, after = change.before or {}, change.after or {}
    return [sentence(field, before.get(field), after.get(field), money) for field in after]


def sentence(field: str, before: object, after: object, money: Prices = USUAL) -> str:
    """`Price: 2.50 → 2.75`, `Paused`, `Places: added FR`."""
    if field == "is_active":
        return "Resumed" if after else "Paused"
    if isinstance(before, list) and isinstance(after, list):
        sides = {
            "added": [element for element in after if element not in before],
            "removed": [element for element in before if element not in after],
        }
        parts = [
            f"{verb} {field_text.value(field, elements)}" for verb, elements in sides.items() if elements
        ]
        return f"{field_text.title(field)}: {'; '.join(parts) or 'another order'}"
    old, new = (field_text.value(field, value) for value in (before, after))
    return f"{field_text.title(field, money)}: {old} → {new}"
