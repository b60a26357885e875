"""What the forms of packages and deals share: the draft, its fields, and how each is typed."""
