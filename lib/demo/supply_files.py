"""The demo's supply files: the sellers.json of its invented exchange, and what its sites say of it.

Two Brazilian sites don't authorize it, Novela das Nove and the sports pages of Farol da Manhã, so that the
package "Brasil em Vídeo" is partly unauthorized. Tech Teaspoon refers to a file of its forum that is not
there, Slow Train Travel has none, and Penny Jar calls an account of a sales house its own.
"""

import json
from collections.abc import Iterator

from lib.demo.supply import Publisher, sites

SYSTEM, OTHER = "lighthouse-exchange.example", "tallship.example"
SALES_HOUSE, SALES_DOMAIN = "9001", "pilot-sales.example"
NO_ENTRY, NO_FILE, DOUBTFUL, RESOLD = "1014", "1008", "1009", ("1006", "1011")
SUBDOMAINS = {"1013": "esporte.farol-da-manha.example", "1004": "forum.tech-teaspoon.example"}
SPORTS = SUBDOMAINS["1013"]


def supply_files() -> Iterator[tuple[str, bytes]]:
    """The files by name, as they are imported."""
    publishers = {site.publisher.id: site.publisher for site in sites()}
    domains = {number: _domain(publisher) for number, publisher in publishers.items()}
    sellers = [
        {"seller_id": number, "seller_type": "PUBLISHER", "name": publisher.name, "domain": domains[number]}
        for number, publisher in publishers.items()
    ]
    house = {"seller_id": SALES_HOUSE, "seller_type": "INTERMEDIARY", "name": "Pilot Sales"}
    sellers.append(house | {"domain": SALES_DOMAIN})
    content = {"contact_email": f"supply@{SYSTEM}", "version": "1.0", "sellers": sellers}
    yield f"{SYSTEM}.sellers.json", json.dumps(content).encode()
    for number, domain in domains.items():
        if number != NO_FILE:
            own = [site for site in sites() if site.publisher.id == number]
            for kind in sorted({"ads" if site.kind == "web" else "app-ads" for site in own}):
                lines = [f"# Sellers of {domain}", f"ownerdomain={domain}", f"{OTHER}, {number}7, RESELLER"]
                if number in SUBDOMAINS and kind == "ads":
                    lines.append(f"subdomain={SUBDOMAINS[number]}")
                if number in RESOLD:
                    lines.append(f"{SYSTEM}, {SALES_HOUSE}, RESELLER  # Pilot Sales")
                elif number == DOUBTFUL:
                    lines.append(f"{SYSTEM}, {SALES_HOUSE}, DIRECT")
                elif number != NO_ENTRY or kind != "ads":
                    lines.append(f"{SYSTEM}, {number}, DIRECT")
                yield f"{domain}.{kind}.txt", "\n".join(lines).encode()
    yield f"{SPORTS}.ads.txt", f"{OTHER}, 10137, DIRECT".encode()
    apps = (f"{site.bundle},{domains[site.publisher.id]}" for site in sites() if site.bundle)
    yield "apps.csv", "\n".join(("app,domain", *apps)).encode()


def _domain(publisher: Publisher) -> str:
    """The domain of a publisher: that of its first site, else one of its name."""
    web = (site.domain for site in sites() if site.publisher.id == publisher.id and site.domain)
    slug = "".join(letter for letter in publisher.name.lower() if letter.isascii() and letter.isalnum())
    return next(web, f"{slug}.example")
