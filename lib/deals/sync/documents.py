"""A demand deal as a document of Deal Sync API 1.0 (IAB Tech Lab): its objects Deal, Terms and Curation.

Only what is known is said; what the specification takes from a missing field is in docs/deals-api.md. The
object Inventory is left out: it is for inventory that never changes, and lists of domains and apps may.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from lib.deals.fields import DEALS, SUPPLY, internal_names, of
from lib.deals.models import GUARANTEED, Status
from lib.settings import Settings

# Each country's two letters, then its three.
_CODES = """
ADAND AEARE AFAFG AGATG AIAIA ALALB AMARM AOAGO AQATA ARARG ASASM ATAUT AUAUS AWABW AXALA AZAZE
BABIH BBBRB BDBGD BEBEL BFBFA BGBGR BHBHR BIBDI BJBEN BLBLM BMBMU BNBRN BOBOL BQBES BRBRA BSBHS
BTBTN BVBVT BWBWA BYBLR BZBLZ CACAN CCCCK CDCOD CFCAF CGCOG CHCHE CICIV CKCOK CLCHL CMCMR CNCHN
COCOL CRCRI CUCUB CVCPV CWCUW CXCXR CYCYP CZCZE DEDEU DJDJI DKDNK DMDMA DODOM DZDZA ECECU EEEST
EGEGY EHESH ERERI ESESP ETETH FIFIN FJFJI FKFLK FMFSM FOFRO FRFRA GAGAB GBGBR GDGRD GEGEO GFGUF
GGGGY GHGHA GIGIB GLGRL GMGMB GNGIN GPGLP GQGNQ GRGRC GSSGS GTGTM GUGUM GWGNB GYGUY HKHKG HMHMD
HNHND HRHRV HTHTI HUHUN IDIDN IEIRL ILISR IMIMN ININD IOIOT IQIRQ IRIRN ISISL ITITA JEJEY JMJAM
JOJOR JPJPN KEKEN KGKGZ KHKHM KIKIR KMCOM KNKNA KPPRK KRKOR KWKWT KYCYM KZKAZ LALAO LBLBN LCLCA
LILIE LKLKA LRLBR LSLSO LTLTU LULUX LVLVA LYLBY MAMAR MCMCO MDMDA MEMNE MFMAF MGMDG MHMHL MKMKD
MLMLI MMMMR MNMNG MOMAC MPMNP MQMTQ MRMRT MSMSR MTMLT MUMUS MVMDV MWMWI MXMEX MYMYS MZMOZ NANAM
NCNCL NENER NFNFK NGNGA NINIC NLNLD NONOR NPNPL NRNRU NUNIU NZNZL OMOMN PAPAN PEPER PFPYF PGPNG
PHPHL PKPAK PLPOL PMSPM PNPCN PRPRI PSPSE PTPRT PWPLW PYPRY QAQAT REREU ROROU RSSRB RURUS RWRWA
SASAU SBSLB SCSYC SDSDN SESWE SGSGP SHSHN SISVN SJSJM SKSVK SLSLE SMSMR SNSEN SOSOM SRSUR SSSSD
STSTP SVSLV SXSXM SYSYR SZSWZ TCTCA TDTCD TFATF TGTGO THTHA TJTJK TKTKL TLTLS TMTKM TNTUN TOTON
TRTUR TTTTO TVTUV TWTWN TZTZA UAUKR UGUGA UMUMI USUSA UYURY UZUZB VAVAT VCVCT VEVEN VGVGB VIVIR
VNVNM VUVUT WFWLF WSWSM YEYEM YTMYT ZAZAF ZMZMB ZWZWE
"""
ALPHA_3 = {pair[:2]: pair[2:] for pair in _CODES.split()}
EVERY = frozenset(ALPHA_3.values())
VERSION = "1.0"
PAUSED = 1
COMPLETE = 3
ARCHIVED = 4
SELLER_STATUS: dict[Status, int] = {"active": 0, "paused": PAUSED, "pending": 2, "complete": COMPLETE}
AD_TYPES = {"banner": 1, "video": 2, "audio": 3, "native": 4}
_CURRENCY = re.compile(r"[A-Z]{3}")
PLACES = {
    "deal_id", "name", "status", "price", "price_type", "currency", "deal_type", "units",
    "agency_curation_fee_type",
}  # fmt: skip
"""The fields of a deal that the specification has a place for."""
Document = dict[str, Any]


def countries(targetings: Iterable[Iterable[Mapping[str, Any]]]) -> list[str]:
    """The countries of packages with this targeting, by code; empty for all, and where they can't be told.

    A deal of several packages has the countries of them all. They can't be told where an included place is
    smaller than a country, or written in other than ISO's two or three letters.
    """
    codes: set[str] = set()
    for targets in targetings:
        sides: dict[bool, set[str]] = {False: set(), True: set()}
        for target in targets:
            is_excluded, value = target["is_excluded"], str(target["value"]).strip().upper()
            code = ALPHA_3.get(value) or (value if value in EVERY else None)
            if target["type"] == "country" and code is not None:
                sides[is_excluded].add(code)
            elif target["type"] == "country" or not is_excluded:
                return []
            # An excluded part of a country leaves it in.
        codes |= (sides[False] or EVERY) - sides[True]
    return [] if codes == EVERY else sorted(codes)


@dataclass(frozen=True)
class SellingSide:
    """What the documents say of the seller's side, from the settings; a domain that is not known is empty.

    `price_type` is the specification's number for how an auction is priced, `usual_price` what the price of a
    deal is that does not say it, `currency` that of deals without one. Without `origin` there are no
    documents.
    """

    origin: str = ""
    seller: str = ""
    curator: str = ""
    currency: str = "USD"
    price_unit: str = "CPM"
    price_type: int = 0
    usual_price: str = "floor"


def document(side: SellingSide, deal: Any, packages: Sequence[Any]) -> Document:
    """The document of a deal, given its row with its status and its seat's id at the DSP (`external_id`).

    `packages` are the rows of its supply packages. Fields for a DSP that the specification has no place for
    are in `ext`.
    """
    deal, packages = DspRow(deal, DEALS), [DspRow(package, SUPPLY) for package in packages]
    types = {AD_TYPES[package.media_type] for package in packages if package.media_type in AD_TYPES}
    no_extras = internal_names(DEALS, "dsp") | PLACES
    extras = [field.name for field in of(DEALS) if field.name not in no_extras]
    # From the first start to the last end of the packages; a price only where it is one per mille.
    starts = [package.start_date for package in packages]
    ends = [package.end_date for package in packages]
    currency = deal.currency or side.currency.strip().upper()
    is_fixed = (deal.price_type or side.usual_price) == "fixed"
    is_cpm = side.price_unit.strip().upper() == "CPM" and _CURRENCY.fullmatch(currency)
    guarantee = {}
    if deal.deal_type == GUARANTEED:
        is_priced = is_cpm and deal.units is not None and deal.price is not None
        cost = deal.units * deal.price / 1000 if is_priced else None
        guarantee = _present_fields(guar=1, units=deal.units, totalcost=cost)
    return {
        "id": deal.deal_id,
        "name": deal.name,
        "created": moment(deal.created_at),
        "sellerstatus": SELLER_STATUS[deal.status],
        "origin": side.origin,
        **_present_fields(seller=side.seller),
        "wseat": [deal.external_id],
        **_present_fields(adtypes=sorted(types)),
        "terms": {
            **_present_fields(
                startdate=moment(min(starts)) if starts else None,
                enddate=moment(max(ends)) if ends and None not in ends else None,
                countries=countries(package.geo_targetings for package in packages),
            ),
            **({"dealfloor": deal.price, "cur": currency} if is_cpm else {}),
            "pricetype": FIXED_PRICE if is_cpm and is_fixed else side.price_type,
            **guarantee,
        },
        **_present_fields(
            curation=_present_fields(curator=side.curator, curfeetype=deal.agency_curation_fee_type),
            ext=_present_fields(**{name: getattr(deal, name) for name in extras}),
        ),
    }


class DspRow:
    """A row as a DSP may know it: AttributeError for a plain field that is not for DSPs."""

    def __init__(self, row: Any, entity: str) -> None:
        self._row, self._hidden = row, internal_names(entity, "dsp")

    def __getattr__(self, name: str) -> Any:
        if name in self._hidden:
            raise AttributeError(f"{name} is not for a DSP: see `readers` in lib/deals/fields.py")
        return getattr(self._row, name)


def moment(at: datetime) -> str:
    """`2026-11-20T08:00:00Z`."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


FIXED_PRICE = 3  # of `pricetype`


def _present_fields(**fields: Any) -> Document:
    """The fields with a value; 0 is one."""
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}


def selling_side(settings: Settings) -> SellingSide:
    """What the documents say of the seller's side."""
    return SellingSide(
        origin=settings.sync_origin, seller=settings.deal_sync.deal_sync_seller,
        curator=settings.deal_sync.deal_sync_curator, currency=settings.price_currency,
        price_unit=settings.price_unit, price_type=settings.deal_sync.deal_sync_price_type,
        usual_price=settings.price_type,
    )  # fmt: skip
