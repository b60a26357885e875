#!/usr/bin/env bash
# tldextract 5.4.0 and publicsuffixlist 1.1.2: two readers of one list, two root domains for a blog.
#
# Guess: both give the root domain at which ads.txt has to be looked up, and agree, since both read the Public
# Suffix List.
# Seen: tldextract leaves the list's private part out unless it is told otherwise, so that every blog of a host is
# one site (blogspot.com, github.io); publicsuffixlist takes the whole list, so that each is a site of its own.
# A crawler by the first one looks for the sellers of shop.blogspot.com at the host, and finds the file of
# somebody else or none; counts by root domain add thousands of publishers up to one.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check \
  tldextract==5.4.0 publicsuffixlist==1.1.2.20261023
"$folder/venv/bin/python" - <<'PY'
from publicsuffixlist import PublicSuffixList
from tldextract import TLDExtract

whole = PublicSuffixList()
usual = TLDExtract(suffix_list_urls=())
private = TLDExtract(suffix_list_urls=(), include_psl_private_domains=True)
for host in ("shop.blogspot.com", "team.github.io", "www.news.co.uk"):
    roots = (
        usual(host).top_domain_under_public_suffix,
        private(host).top_domain_under_public_suffix,
        whole.privatesuffix(host),
    )
    print(host, *roots)
    assert roots[1] == roots[2]
    assert (roots[0] == roots[1]) == host.endswith("co.uk")
PY
