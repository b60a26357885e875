"""The invented demand: advertisers with campaigns, line items and creatives."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from lib.demo.facts import MEDIA, Floats, MediaType, countries, table
from lib.demo.stories import DAYS

WEEKS = -(-DAYS // 7)
PIXELS = ("Order", "Sign-up", "Visit")
_CAMPAIGNS: tuple[tuple[str, MediaType], ...] = (
    ("Always on", "banner"), ("Video reach", "video"), ("Retargeting", "banner"), ("Stories", "native"),
    ("Airtime", "audio"),
)  # fmt: skip
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
    return tuple(
        Campaign(
            id=f"3{row['id']}{number + 1}", name=f"{row['name']} – {theme}", advertiser_id=row["id"],
            advertiser=row["name"], tag_type=kind, always=number < 2 and float(row["weight"]) >= 8,
            weight=float(row["weight"]) / (number + 1),
        )
        for row in table("advertisers")
        for number, (theme, kind) in enumerate(_CAMPAIGNS[: 5 if int(row["id"]) % 4 == 3 else 4])
    )  # fmt: skip


@cache
def creatives() -> tuple[Creative, ...]:
    """All creatives, nine a campaign."""
    return tuple(
        Creative(
            id=f"{500_000 + CREATIVES_A_CAMPAIGN * number + 3 * line + size}",
            name=f"{campaign.advertiser} {_SIZES[campaign.tag_type][size]} ({'ABC'[line]})",
            line_item_id=f"{40_000 + 3 * number + line}", line_item=f"{campaign.name} · {tactic}",
            campaign=campaign, weight=1.0 / ((line + 1) * (size + 1)),
        )
        for number, campaign in enumerate(campaigns())
        for line, tactic in enumerate(_TACTICS)
        for size in range(3)
    )  # fmt: skip


def creative_weights(rng: np.random.Generator) -> Floats:
    """The creatives bought in each market and week; shape (weeks × markets, creatives), weeks first."""
    count, always = len(campaigns()), np.array([campaign.always for campaign in campaigns()])
    # The countries that each campaign buys; shape (campaigns, countries).
    everywhere = always | (rng.random(count) < 0.4)
    reach = np.where(everywhere[:, None], 1.0, rng.random((count, len(countries()))) < 0.25)
    # How much of its day's budget each campaign has in each week; shape (campaigns, weeks).
    begins = rng.integers(-6, WEEKS, count)
    ends, week = begins + rng.integers(3, 12, count), np.arange(WEEKS)
    flight = (week >= begins[:, None]) & (week <= ends[:, None])
    runs = np.where(always[:, None], 1.0, flight * rng.uniform(0.6, 1.6, (count, 1)))
    fits = np.array([MEDIA[campaign.tag_type].platforms for campaign in campaigns()]).T
    campaign_weights = runs.T[:, None, None, :] * reach.T[None, :, None, :] * fits[None, None, :, :]
    campaign_weights *= np.array([campaign.weight for campaign in campaigns()])
    a_creative = np.array([creative.weight for creative in creatives()])
    by_campaign = campaign_weights.reshape(-1, count)
    weights: Floats = np.repeat(by_campaign, CREATIVES_A_CAMPAIGN, axis=1) * a_creative
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
