"""Access: tokens for scripts, and people."""
