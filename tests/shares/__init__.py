"""Tests of share links."""
