"""Judges sites and apps by the imported files: authorized, direct or reseller, not authorized, unknown.

Our advertising systems are those whose sellers.json is imported. A site is authorized by a line of its
ads.txt that names one of them with an account of its sellers.json; an app by the app-ads.txt of its
developer's domain. Nothing is known without a file, nor by one without a record (ads.txt 1.1, 3.2.1).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Literal, get_args

from lib.deals.supply.formats import ADS, APP_ADS, MANAGER, OWNER, PARTNER, SUBDOMAIN, Account

if TYPE_CHECKING:
    import tldextract

State = Literal["unauthorized", "unknown", "reseller", "direct"]
STATES: tuple[State, ...] = get_args(State)
AUTHORIZED: tuple[State, ...] = ("direct", "reseller")
WORDS: dict[State, str] = {
    "direct": "Authorized, direct",
    "reseller": "Authorized, reseller",
    "unauthorized": "Not authorized",
    "unknown": "Unknown",
}
DIRECT = "DIRECT"


@dataclass(frozen=True)
class SupplyState:
    """What is known of a site or an app, and why in a sentence. `doubt` is what its line and the seller's
    entry say differently; empty if nothing."""

    state: State
    why: str
    doubt: str = ""


@dataclass(frozen=True)
class AdsFile:
    """A stored ads.txt or app-ads.txt: its lines that name our systems, its variables, and whether it has any
    record."""

    domain: str
    accounts: Sequence[Account]
    variables: Mapping[str, Sequence[str]]
    has_records: bool


@dataclass(frozen=True)
class SupplyIndex:
    """All that sites and apps are judged by: our systems, their sellers by system and account as far as files
    name them, files by kind and domain, and the developer's domain of each app."""

    systems: frozenset[str] = frozenset()
    sellers: Mapping[tuple[str, str], Account] = field(default_factory=dict)
    files: Mapping[tuple[str, str], AdsFile] = field(default_factory=dict)
    developers: Mapping[str, str] = field(default_factory=dict)

    def state(self, name: str, is_app: bool) -> SupplyState:
        """The state of a site (a host name) or an app."""
        if not self.systems:
            return SupplyState("unknown", "No sellers.json of ours is imported.")
        if not name:
            return SupplyState("unknown", "The report names no site and no app.")
        if is_app:
            # By the file of its developer's host, else of the domains above it (app-ads.txt 1.0).
            if (developer := self.developers.get(name)) is None:
                return SupplyState("unknown", "Its developer's domain is not known (apps.csv).")
            for parent in _hosts(developer):
                if (APP_ADS, parent) in self.files:
                    return self._judge(APP_ADS, self.files[APP_ADS, parent])
            return SupplyState("unknown", f"No app-ads.txt of {developer} is imported.")
        # By the file of the root domain, or that of the subdomain that it refers to (SUBDOMAIN).
        host = name.lower().rstrip(".")
        hosts = _hosts(host)[::-1]
        root = next((candidate for candidate in hosts if (ADS, candidate) in self.files), "")
        if not root:
            return SupplyState("unknown", f"No ads.txt of {host} is imported.")
        referrals = [
            candidate
            for candidate in hosts
            if candidate in self.files[ADS, root].variables.get(SUBDOMAIN, ())
        ]
        if referrals and (ADS, referrals[-1]) not in self.files:
            return SupplyState("unknown", f"{root} refers to the ads.txt of {referrals[-1]}: not imported.")
        return self._judge(ADS, self.files[ADS, referrals[-1] if referrals else root])

    def _judge(self, kind: str, ads_file: AdsFile) -> SupplyState:
        """By the lines of a file that name us, else by those of its inventory partners."""
        where = f"{kind} of {ads_file.domain}"
        if (by_line := self._by_lines(ads_file, where)) is not None:
            return by_line
        partners = ads_file.variables.get(PARTNER, ())
        for partner in partners:
            partner_file = self.files.get((ADS, partner))
            if partner_file and (state := self._by_lines(partner_file, f"ads.txt of {partner}, a partner")):
                return state
        if missing := [partner for partner in partners if (ADS, partner) not in self.files]:
            return SupplyState("unknown", f"{where} refers to the ads.txt of {missing[0]}: not imported.")
        if not ads_file.has_records and not partners:
            return SupplyState("unknown", f"The {where} has no record.")
        wrong = next((f"{record.system}, {record.account}" for record in ads_file.accounts), "")
        why = f"names {wrong}: no such seller in our sellers.json" if wrong else "does not name us"
        return SupplyState("unauthorized", f"The {where} {why}.")

    def _by_lines(self, ads_file: AdsFile, where: str) -> SupplyState | None:
        """By its best line with a seller of ours: direct before reseller, then one without a doubt."""
        states = []
        for line in ads_file.accounts:
            if (seller := self.sellers.get((line.system, line.account))) is not None:
                why = f"{line.system}, {line.account}, {line.relation} in the {where}."
                state: State = "direct" if line.relation == DIRECT else "reseller"
                states.append(SupplyState(state, why, _doubt(line, seller, ads_file)))
        return min(states, key=lambda state: (state.state != "direct", bool(state.doubt)), default=None)


def _doubt(line: Account, seller: Account, ads_file: AdsFile) -> str:
    """What a line and its seller's entry say differently: the relation, or for a publisher whose site it is.

    A manager (MANAGERDOMAIN) sells directly, though it is not the publisher.
    """
    is_manager = bool(seller.domain) and seller.domain in ads_file.variables.get(MANAGER, ())
    if line.relation == DIRECT and seller.relation == "INTERMEDIARY" and not is_manager:
        return "The line says DIRECT, our sellers.json says INTERMEDIARY."
    if line.relation != DIRECT and seller.relation == "PUBLISHER":
        return "The line says RESELLER, our sellers.json says PUBLISHER."
    owner = (*ads_file.variables.get(OWNER, ()), ads_file.domain)[0]
    if line.relation == DIRECT and seller.relation == "PUBLISHER" and seller.domain not in ("", owner):
        return f"Our sellers.json says that the account is of {seller.domain}, the site's owner is {owner}."
    return ""


def _hosts(host: str) -> list[str]:
    """The host, then those above it that have the same owner: `a.b.example`, `b.example`.

    Owners are told by the public suffix list with its private part: `github.io` is not that of
    `name.github.io`.
    """
    suffix = _public_suffixes()(host).suffix
    labels = host.split(".")
    first = len(labels) - 1 - (suffix.count(".") + 1 if suffix else 1)
    return [".".join(labels[start:]) for start in range(max(first, 0) + 1)]


@cache
def _public_suffixes() -> "tldextract.TLDExtract":
    """The list that the package has: it is fetched from nowhere, and kept nowhere."""
    import tldextract

    return tldextract.TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)
