"""The countries of a targeting as deal sync names them: those included, in ISO 3166-1's three letters."""

from collections.abc import Iterable, Mapping
from typing import Any

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


def countries(targetings: Iterable[Iterable[Mapping[str, Any]]]) -> list[str]:
    """The countries of packages with these places, by code; empty for all, and where they can't be told.

    A deal of several packages has the countries of them all. They can't be told where an included place is
    smaller than a country, or written in other than ISO's two or three letters.
    """
    codes: set[str] = set()
    for places in targetings:
        included = _of_package([*places])
        if included is None:
            return []
        codes |= included
    return [] if codes == EVERY else sorted(codes)


def _of_package(places: list[Mapping[str, Any]]) -> frozenset[str] | set[str] | None:
    """The countries of one package; None where they can't be told. An excluded part of one leaves it in."""
    included = [place for place in places if not place["is_excluded"]]
    excluded = [place for place in places if place["is_excluded"] and place["type"] == "country"]
    codes = [_code(place) for place in (*included, *excluded)]
    if None in codes:
        return None
    remaining = set(filter(None, codes[: len(included)])) if included else EVERY
    return remaining - set(filter(None, codes[len(included) :]))


def _code(place: Mapping[str, Any]) -> str | None:
    if place["type"] != "country":
        return None
    value = str(place["value"]).strip().upper()
    return ALPHA_3.get(value) or (value if value in EVERY else None)
