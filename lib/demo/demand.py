"""The invented demand: advertisers with campaigns, line items and creatives."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from lib.demo.facts import MEDIA, Floats, MediaType, countries, table
from lib.demo.stories import DAYS

WEEKS = -(-DAYS // 7)
PIXELS = ("Order", "Sign-up", "Visit")
_CAMPAIGNS: tuple[tuple[str, MediaType], ...] = (
    ("Always on", "banner"),
    ("Video reach", "video"),
    ("Retargeting", "banner"),
    ("Stories", "native"),
    ("Airtime", "audio"),
)
_TACTICS = ("Prospecting", "Context", "Lookalike")
_SIZES: dict[MediaType, tuple[str, str, str]] = {
    "banner": ("300x250", "728x90", "320x50"),
    "video": ("15 s", "20 s", "30 s"),
    "native": ("Card", "Feed", "Headline"),
    "audio": ("20 s", "30 s", "30 s B"),
}
CREATIVES_A_CAMPAIGN = 9


@dataclass(frozen=True)
class Campaign:
    """A campaign. `always` says that it runs everywhere, from the first day to the last."""

    id: str
    name: str
    advertiser_id: str
    advertiser: str
    tag_type: MediaType
    always: bool
    weight: float


@dataclass(frozen=True)
class Creative:
    """A creative with the line item and the campaign that it belongs to."""

    id: str
    name: str
    line_item_id: str
    line_item: str
    campaign: Campaign
    weight: float

    @property
    def pixels(self) -> tuple[str, ...]:
        return tuple(f"{self.campaign.advertiser_id}-{number + 1}" for number in range(len(PIXELS)))


@dataclass(frozen=True)
class Rates:
    """Per creative: chance of a click on an impression, and price of a thousand impressions in dollars."""

    click: Floats
    price: Floats
    markup: Floats


@cache
def campaigns() -> tuple[Campaign, ...]:
    """All campaigns: four an advertiser, and audio for some."""
    return tuple(campaign for row in table("advertisers") for campaign in _campaigns(row))


@cache
def creatives() -> tuple[Creative, ...]:
    """All creatives, nine a campaign."""
    return tuple(
        _creative(campaign, number, line, size)
        for number, campaign in enumerate(campaigns())
        for line in range(len(_TACTICS))
        for size in range(3)
    )


def creative_weights(rng: np.random.Generator) -> Floats:
    """The creatives bought in each market and week; shape (weeks × markets, creatives), weeks first."""
    reach, runs = _reach(rng), _runs(rng)
    fits = np.array([MEDIA[campaign.tag_type].platforms for campaign in campaigns()]).T
    campaign_weights = runs.T[:, None, None, :] * reach.T[None, :, None, :] * fits[None, None, :, :]
    campaign_weights *= np.array([campaign.weight for campaign in campaigns()])
    a_creative = np.array([creative.weight for creative in creatives()])
    weights: Floats = (
        np.repeat(campaign_weights.reshape(-1, len(campaigns())), CREATIVES_A_CAMPAIGN, axis=1) * a_creative
    )
    return weights


def rates(rng: np.random.Generator) -> Rates:
    """The price and click rate of each creative."""
    media, count = [MEDIA[creative.campaign.tag_type] for creative in creatives()], len(creatives())
    return Rates(
        click=np.array([medium.click for medium in media]) * rng.lognormal(0.0, 0.35, count),
        price=np.array([medium.price for medium in media]) * rng.lognormal(0.0, 0.30, count),
        markup=np.repeat(rng.uniform(1.06, 1.28, len(campaigns())), CREATIVES_A_CAMPAIGN),
    )


def pixel_names() -> dict[str, str]:
    """Code → text of the conversions."""
    return {
        f"{row['id']}-{number + 1}": f"{row['name']}: {pixel}"
        for row in table("advertisers")
        for number, pixel in enumerate(PIXELS)
    }


def _reach(rng: np.random.Generator) -> Floats:
    """A mask of the countries that each campaign buys; shape (campaigns, countries)."""
    always = np.array([campaign.always for campaign in campaigns()])
    everywhere = always | (rng.random(len(always)) < 0.4)
    return np.where(everywhere[:, None], 1.0, rng.random((len(always), len(countries()))) < 0.25)


def _runs(rng: np.random.Generator) -> Floats:
    """How much of its day's budget each campaign has in each week; shape (campaigns, weeks)."""
    begins = rng.integers(-6, WEEKS, len(campaigns()))
    ends = begins + rng.integers(3, 12, len(campaigns()))
    week = np.arange(WEEKS)
    flight = (week >= begins[:, None]) & (week <= ends[:, None])
    always = np.array([campaign.always for campaign in campaigns()])
    return np.where(always[:, None], 1.0, flight * rng.uniform(0.6, 1.6, (len(campaigns()), 1)))


def _campaigns(row: dict[str, str]) -> list[Campaign]:
    plan = _CAMPAIGNS if int(row["id"]) % 4 == 3 else _CAMPAIGNS[:4]
    return [
        Campaign(
            id=f"3{row['id']}{number + 1}",
            name=f"{row['name']} – {theme}",
            advertiser_id=row["id"],
            advertiser=row["name"],
            tag_type=kind,
            always=number < 2 and float(row["weight"]) >= 8,
            weight=float(row["weight"]) / (number + 1),
        )
        for number, (theme, kind) in enumerate(plan)
    ]


def _creative(campaign: Campaign, number: int, line: int, size: int) -> Creative:
    line_item_id = f"{40_000 + 3 * number + line}"
    return Creative(
        id=f"{500_000 + CREATIVES_A_CAMPAIGN * number + 3 * line + size}",
        name=f"{campaign.advertiser} {_SIZES[campaign.tag_type][size]} ({'ABC'[line]})",
        line_item_id=line_item_id,
        line_item=f"{campaign.name} · {_TACTICS[line]}",
        campaign=campaign,
        weight=1.0 / ((line + 1) * (size + 1)),
    )
