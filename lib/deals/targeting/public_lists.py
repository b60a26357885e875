"""The values of targeting that public lists have: countries, devices and sizes of ads."""

from lib.deals.sync.documents import ALPHA_3, EVERY

_DEVICES = (
    "smartphone phone mobile tablet desktop pc computer laptop tv ctv ott television connected_tv smart_tv"
    " set_top_box settopbox console game_console games_console media_player wearable e_reader feature_phone"
    " mobile_phone connected_device personal_computer other unknown"
)
# The fixed sizes of the IAB's Display Advertising Guidelines, and those that video and interstitials have.
_SIZES = (
    "88x31 120x20 120x60 120x90 120x240 120x600 125x125 160x600 168x28 168x42 180x150 200x200 200x446 216x36"
    " 216x54 220x90 234x60 240x133 240x400 250x250 250x360 292x30 300x50 300x75 300x100 300x150 300x168"
    " 300x200 300x250 300x300 300x431 300x600 300x1050 320x50 320x100 320x160 320x240 320x250 320x320 320x400"
    " 320x480 336x280 360x640 375x667 375x812 414x736 468x60 480x320 480x360 550x480 580x400 600x500 640x100"
    " 640x320 640x360 640x480 667x375 720x300 728x90 736x414 768x1024 800x250 812x375 854x480 900x250 930x180"
    " 950x90 960x90 960x540 970x66 970x90 970x250 970x310 980x90 980x120 980x300 1000x250 1024x768 1080x1080"
    " 1080x1920 1200x627 1200x628 1280x720 1440x1080 1600x900 1920x1080 2048x1536 3840x2160"
)
DEVICES, SIZES = frozenset(_DEVICES.split()), frozenset(_SIZES.split())
UNLISTED = {
    "country": "'{}' is no country code of ISO 3166-1",
    "device": "'{}' is no usual type of device",
    "size": "{} is no usual size of an ad",
}


def is_known(kind: str, value: str) -> bool:
    """Whether public lists have this value of a kind of targeting; true for kinds that have no such list."""
    match kind:
        case "country":
            return (code := value.strip().upper()) in ALPHA_3 or code in EVERY
        case "device":
            return value.strip().casefold().replace(" ", "_").replace("-", "_") in DEVICES or value.isdigit()
        case "size":
            return value in SIZES
    return True
