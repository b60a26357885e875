"""Currencies (ISO 4217): of deals, and of the money in reports.

Money of several currencies is never compared or added up: there are no rates here.
"""

from collections import Counter
from collections.abc import Iterable

# The codes of money in use; not those of metals, funds and tests.
_CODES = (
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD "
    "CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ "
    "GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR "
    "LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN "
    "PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB "
    "TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW "
    "ZWG"
)
CODES = tuple(_CODES.split())
_WHOLE = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
_THOUSANDTHS = "BHD IQD JOD KWD LYD OMR TND"
MINOR_UNITS = dict.fromkeys(_WHOLE.split(), 0) | dict.fromkeys(_THOUSANDTHS.split(), 3)
"""How many decimals amounts have where they haven't two (ISO 4217, list one)."""
EXAMPLE = "write a code of ISO 4217 in capitals, such as EUR"


def check(code: str) -> str:
    """The code of a currency in use. ValueError for another text."""
    if code not in CODES:
        raise ValueError(f"must be a currency: {EXAMPLE}")
    return code


def currency_counts(codes: Iterable[str]) -> str:
    """Why there is no sum of money in these currencies, one per deal: `3 deals in EUR, 12 in USD`.

    Empty where all are the same.
    """
    counts = Counter(codes)
    if len(counts) < 2:
        return ""
    (first, count), *rest = sorted(counts.items())
    deals = "deal" if count == 1 else "deals"
    return ", ".join([f"{count:,} {deals} in {first}", *(f"{number:,} in {code}" for code, number in rest)])
