"""Access tokens: issued, verified, revoked."""
