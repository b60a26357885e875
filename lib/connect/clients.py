"""The clients of one person, and what they may see."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lib.deals.bulk_actions import BulkActions
from lib.deals.client import Deals
from lib.deals.healths import HealthStore
from lib.deals.package_records import Drafts, PackageNotes, PackageQuestions
from lib.reporting.client import Reporting
from lib.views import ViewStore


@dataclass(frozen=True)
class Clients:
    """The clients of one person: one per API, the slicers (project, name) that they may see, their draft.

    `healths` is the stored health of deals; None for a remote deals service, whose deals are not stored.
    `package_questions` are the questions that packages came from, `package_notes` their owners and notes,
    `bulk_actions` what can be undone, `view_store` saved views and notes on dates: all in the desk's own
    database whatever service answers.
    `reporting_address` and `deals_address` say where a remote service is; empty for one of this process.
    What a slicer is may be kept for `slicer_seconds` before it is asked again. `currency` and `price_unit`
    are those of prices, `usual_terms` what a term of deals means that is not set, by its field.
    """

    reporting: Reporting
    open_deals: Callable[[], Deals]
    slicers: tuple[tuple[str, str], ...]
    drafts: Drafts
    package_questions: PackageQuestions
    package_notes: PackageNotes
    bulk_actions: BulkActions
    view_store: ViewStore
    healths: HealthStore | None = None
    reporting_address: str = ""
    deals_address: str = ""
    slicer_seconds: float = 0
    currency: str = ""
    price_unit: str = ""
    usual_terms: Mapping[str, str] = field(default_factory=dict)

    @property
    def own(self) -> tuple[str, ...]:
        """The embedded APIs, for which tokens can be issued here."""
        return tuple(api for api in ("reporting", "deals") if api not in self.remote_addresses)

    @property
    def remote_addresses(self) -> dict[str, str]:
        """The remote APIs, and the address of each."""
        addresses = {"reporting": self.reporting_address, "deals": self.deals_address}
        return {api: address for api, address in addresses.items() if address}

    @property
    def deals(self) -> Deals:
        """The client of the deals API. Probes a remote service's features: ServiceProblem if that fails."""
        return self.open_deals()
