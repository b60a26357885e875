"""The kinds of targeting, and the key fields that they correspond to."""

from dataclasses import dataclass
from typing import Any

from lib.deals.models import GeoTarget, ListTarget, SizeTarget, Targeting, ValueTarget
from lib.slicers.models import KeyField, Slicer

Target = GeoTarget | ValueTarget | SizeTarget | ListTarget
PLACES = "Places"


@dataclass(frozen=True)
class TargetingKind:
    """A kind of targeting. Kinds of one `group` are joined by OR: all types of places are one group.

    `field` is where a package has it, `key_fields` how reports may call it: a whole name, or the last dotted
    parts of one.
    """

    name: str
    title: str
    group: str
    field: str
    key_fields: tuple[str, ...]

    def of(self, targeting: Targeting) -> tuple[Target, ...]:
        """The targets of this kind in a targeting."""
        targets: tuple[Target, ...] = getattr(targeting, self.field)
        return tuple(
            target for target in targets if not isinstance(target, GeoTarget) or target.type == self.name
        )

    def value(self, target: Target) -> str:
        """A target as a value of the report: `US`, `Safari`, `300x250`; a list by its name."""
        match target:
            case SizeTarget():
                return f"{target.width}x{target.height}"
            case ListTarget():
                return target.name or f"list {target.id}"
            case _:
                return target.value

    def identity(self, target: Target) -> str:
        """What tells a target from the others of its kind: a list by its id, the others by their value."""
        return str(target.id) if isinstance(target, ListTarget) else self.value(target)

    def element(self, value: str, is_excluded: bool) -> dict[str, Any]:
        """The element of a request for this value; for lists, `value` is the id."""
        if self.field == "geo_targetings":
            return {"type": self.name, "value": value, "is_excluded": is_excluded}
        if self.field == "size_targetings":
            width, _, height = value.partition("x")
            return {"width": int(width), "height": int(height), "is_excluded": is_excluded}
        if self.is_list:
            return {"id": int(value), "is_excluded": is_excluded}
        return {"value": value, "is_excluded": is_excluded}

    @property
    def is_list(self) -> bool:
        """Whether targets are lists, and not values of the report."""
        return self.name in ("domain_list", "app_list")


@dataclass(frozen=True)
class Element:
    """Targets that are left out together: one, or all that are targeted or excluded of a kind."""

    kind: TargetingKind
    targets: tuple[Target, ...]
    is_excluded: bool

    @property
    def targeting(self) -> Targeting:
        """A targeting that has nothing but this."""
        return Targeting().model_copy(update={self.kind.field: self.targets})


KINDS = (
    TargetingKind("country", "Country", PLACES, "geo_targetings", ("country",)),
    TargetingKind("region", "Region", PLACES, "geo_targetings", ("region", "country_region")),
    TargetingKind("city", "City", PLACES, "geo_targetings", ("city",)),
    TargetingKind("dma", "DMA", PLACES, "geo_targetings", ("dma",)),
    TargetingKind("zip", "Postal code", PLACES, "geo_targetings", ("zip",)),
    TargetingKind("device", "Device", "Device", "device_targetings", ("device_type", "device.type")),
    TargetingKind(
        "operating_system", "Operating system", "Operating system", "operating_system_targetings",
        ("operating_system", "os.name"),
    ),
    TargetingKind("browser", "Browser", "Browser", "browser_targetings", ("browser", "browser.name")),
    TargetingKind("size", "Size", "Size", "size_targetings", ("size", "requested_sizes")),
    TargetingKind("domain_list", "Domain list", "Domain list", "domain_list_targetings", ("site_domain",)),
    TargetingKind("app_list", "App list", "App list", "app_list_targetings", ("app_bundle",)),
)  # fmt: skip


def key_field(kind: TargetingKind, slicer: Slicer) -> KeyField | None:
    """The slicer's key field for this kind, by the best of its names; None without one."""
    for name in kind.key_fields:
        for field in slicer.key_fields:
            if field.name == name or field.name.endswith(f".{name}"):
                return field
    return None


def elements(targeting: Targeting) -> dict[str, list[dict[str, Any]]]:
    """A targeting as a request carries it; always in the same order, so that it can be compared."""
    parts: dict[str, list[dict[str, Any]]] = {name: [] for name in Targeting.model_fields}
    for kind in KINDS:
        for is_excluded in (False, True):
            side = [target for target in kind.of(targeting) if target.is_excluded == is_excluded]
            values = sorted(str(getattr(target, "id", None) or kind.value(target)) for target in side)
            parts[kind.field] += [kind.element(value, is_excluded) for value in values]
    return parts
