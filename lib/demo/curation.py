"""The slicer `curation`: purchases of packages, deals and seats, by place and audience."""

import datetime as dt
from itertools import product

import numpy as np
import pyarrow as pa

from lib.demo import facts, stories
from lib.demo.cast import DEALS, DSPS, PACKAGES, SEATS, DemoPackage, auctions
from lib.demo.population import PLATFORMS
from lib.demo.scene import PLATFORM_COUNT, lists, numbers, set_scene, text, time_column, user_columns
from lib.demo.supply import site_weights, sites

Columns = dict[str, pa.Array]
Results = dict[str, facts.Ints | facts.Floats]
TYPICAL_REQUESTS = 60.0
SIZES: dict[facts.MediaType, tuple[str, ...]] = {
    "banner": ("300x250", "728x90", "320x50", "300x600", "970x250"),
    "video": ("1920x1080", "1280x720", "640x360"),
    "native": ("",),
    "audio": ("",),
}
_OF_USER = {
    "country": "country", "region": "region", "city": "city", "dma": "dma", "zip": "zip",
    "device_type": "device_type", "operating_system": "os", "browser": "browser", "users": "users",
}  # fmt: skip


def curation(rng: np.random.Generator, today: dt.date, rows: int) -> pa.Table:
    """The rows in order of time. A package's rows have its countries and kinds of device."""
    scene = set_scene(rng, today, rows)
    # The share of each deal in each market (country × platform); shape (markets, deals).
    busy = rng.permutation(facts.zipf(len(DEALS), 0.5))
    most = busy.max()
    busy[_places(stories.DEAL)] = most
    busy[_places(stories.CHEAP_DEAL)] = most * stories.CHEAP_SHARE
    markets = product([country.code for country in facts.countries()], range(PLATFORM_COUNT))
    fits = np.array([[_fits(deal.package, *market) for deal in DEALS] for market in markets])
    weights: facts.Floats = fits * busy
    losses = rng.spawn(1)[0]
    deal = facts.pick_by(rng, weights, scene.market)
    # Other deals in the rows that the narrowed package does not have any more (story 7).
    is_narrowed = np.array([demo_deal.package.id == stories.NARROWED_PACKAGE for demo_deal in DEALS])
    others = facts.pick_by(losses, np.where(is_narrowed, 0.0, weights), scene.market)
    is_targeted = np.array([country.code in stories.NARROWED_TO for country in facts.countries()])
    late = stories.since(scene.hour, stories.NARROWED_DAYS)
    deal = np.where(is_narrowed[deal] & late & ~is_targeted[scene.country], others, deal)
    site = facts.pick_by(rng, site_weights(), scene.market)
    plain = user_columns(scene)
    columns = {"time": time_column(scene)} | {name: plain[own] for name, own in _OF_USER.items()}
    columns |= _deal_columns(rng, deal) | {
        "site_domain": text(site, [s.domain for s in sites()]),
        "app_bundle": text(site, [s.bundle for s in sites()]),
        "content_categories": lists(site, [s.publisher.categories for s in sites()]),
    }
    results = _results(rng, deal, scene.hour)
    # What the bids of each row would have cost; no bid reaches twice the price of the cast.
    bids = results["bids"]
    price = np.array([demo_deal.price for demo_deal in DEALS])[deal] / 1000
    results["bid_amount"] = facts.cents(price * losses.uniform(1.05, 1.6, len(deal)) * bids)
    columns |= _loss_columns(losses, deal, scene.hour, results)
    return pa.table(columns | {name: numbers(values) for name, values in results.items()})


def curation_mappings() -> dict[str, dict[str, str]]:
    """Name → code → text of every mapping that curation.yaml refers to."""
    common = {name: facts.mapping(name) for name in ("country", "dma", "category")}
    return common | {
        "region": facts.regions(),
        "supply_package": {str(package.id): package.name for package in PACKAGES},
        "deal": {str(deal.id): deal.name for deal in DEALS},
        "seat": {str(seat.id): seat.name for seat in SEATS},
        "dsp": {str(dsp.id): dsp.name for dsp in DSPS},
    }


def _loss_columns(rng: np.random.Generator, deal: facts.Ints, hour: facts.Ints, results: Results) -> Columns:
    """Per row the reason for what was lost, and the creative. What a broken deal lost more has its reason."""
    names = (*stories.USUAL_REASONS, stories.CREATIVE, stories.BLOCKED, stories.BUDGET)
    ids = np.array([demo_deal.id for demo_deal in DEALS])[deal]
    reason = facts.pick_by(rng, np.array([[*stories.USUAL_REASONS.values()]]), np.zeros_like(deal))
    for broken in stories.BROKEN:
        rows = stories.since(hour, broken.days) & (ids == broken.deal)
        losses, bids = results["lost_bids"][rows].sum(), results["bids"][rows].sum()
        more = (bids - losses) * (1 / broken.win_share - 1) / max(losses, 1) if broken.win_share else 1.0
        reason[rows] = np.where(rng.random(rows.sum()) < more, names.index(broken.reason), reason[rows])
    reason[stories.is_broke(hour, ids)] = names.index(stories.BUDGET)
    creative = np.where(reason == names.index(stories.CREATIVE), 1, rng.integers(0, 2, len(deal)))
    creatives = [f"cr-{demo_deal.id}-{letter}" for demo_deal in DEALS for letter in "ab"]
    reason = np.where(results["lost_bids"] > 0, reason, len(names))
    return {"lost_reason": text(reason, [*names, ""]), "creative": text(deal * 2 + creative, creatives)}


def _fits(package: DemoPackage, country: str, platform: int) -> float:
    kinds = {PLATFORMS[kind] for kind in package.device_types or PLATFORMS}
    fits = (not package.countries or country in package.countries) and platform in kinds
    return facts.MEDIA[package.media_type].platforms[platform] if fits else 0.0


def _deal_columns(rng: np.random.Generator, deal: facts.Ints) -> Columns:
    labels: dict[str, list[str]] = {
        "supply_package": [str(d.package.id) for d in DEALS],
        "deal": [str(d.id) for d in DEALS],
        "seat": [str(d.seat.id) for d in DEALS],
        "dsp": [str(d.seat.dsp.id) for d in DEALS],
        "media_type": [str(d.package.media_type) for d in DEALS],
    }
    most = max(map(len, SIZES.values()))
    sizes = [size for d in DEALS for size in (SIZES[d.package.media_type] * most)[:most]]
    which = facts.pick_by(rng, facts.zipf(most)[None, :], np.zeros_like(deal))
    columns = {name: text(deal, names) for name, names in labels.items()}
    return columns | {"size": text(deal * most + which, sizes)}


def _places(deal: int) -> facts.Flags:
    """Which of the deals has this id."""
    return np.array([demo_deal.id == deal for demo_deal in DEALS])


def _results(rng: np.random.Generator, deal: facts.Ints, hour: facts.Ints) -> Results:
    """All data fields as numbers per row."""
    media = [facts.MEDIA[d.package.media_type] for d in DEALS]
    click, viewable = (np.array([getattr(m, name) for m in media]) for name in ("click", "viewability"))
    bid_rate, win_rate = rng.beta(4.0, 6.0, len(DEALS)), rng.beta(5.0, 14.0, len(DEALS))
    cheap = _places(stories.CHEAP_DEAL)
    bid_rate[_places(stories.DEAL)] = bid_rate.max()
    bid_rate[cheap], win_rate[cheap] = stories.CHEAP_BID_RATE, stories.CHEAP_WIN_RATE
    ids = np.array([d.id for d in DEALS])[deal]
    requests = auctions(rng, np.full(len(deal), TYPICAL_REQUESTS))
    offers = facts.thin(rng, requests, bid_rate[deal])
    bids = np.where(stories.is_broke(hour, ids), 0, offers)
    imps = facts.thin(rng, bids, win_rate[deal] * stories.still_wins(hour, ids))
    floor = np.array([d.price for d in DEALS])[deal] / 1000
    price = floor * rng.uniform(1.0, 1.3, len(deal)) * stories.price_factor(hour, ids)
    return {
        "bid_requests": requests,
        "bids": bids,
        "lost_bids": offers - imps,
        "imps": imps,
        "clicks": facts.thin(rng, imps, click[deal]),
        "viewable_imps": facts.thin(rng, imps, viewable[deal]),
        "spend": facts.cents(price * imps),
    }
