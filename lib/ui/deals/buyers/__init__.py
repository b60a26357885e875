"""What goes to buyers: hand-over, dossier, and what they count themselves."""
