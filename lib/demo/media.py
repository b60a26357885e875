"""The four media types, and how ads of each behave."""

from dataclasses import dataclass
from typing import Literal

MediaType = Literal["banner", "video", "audio", "native"]


@dataclass(frozen=True)
class Medium:
    """How common its ads are on desktop, mobile and television, and what becomes of one that is shown.

    `click` and `seen` are chances, `price` is in dollars for a thousand impressions.
    """

    platforms: tuple[float, float, float]
    click: float
    seen: float
    price: float


MEDIA: dict[MediaType, Medium] = {
    "banner": Medium((1.0, 1.0, 0.0), click=0.0045, seen=0.64, price=1.5),
    "video": Medium((0.4, 0.5, 1.0), click=0.0032, seen=0.81, price=7.5),
    "native": Medium((0.5, 0.9, 0.0), click=0.0085, seen=0.72, price=2.4),
    "audio": Medium((0.1, 0.6, 0.0), click=0.0006, seen=0.93, price=5.0),
}
