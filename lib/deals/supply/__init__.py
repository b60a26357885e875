"""Who may sell an inventory: ads.txt, app-ads.txt and sellers.json, read, stored, and judged."""
