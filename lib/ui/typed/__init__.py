"""Values that are typed as text: they stay as typed, and one strict reader says what is wrong with them."""
