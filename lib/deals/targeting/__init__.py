"""What a targeting says: its kinds, and the same as filters of a report, there and back."""
