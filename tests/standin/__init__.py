"""A service that knows the specifications and nothing more, and deviates as real ones do. Nothing of lib."""
