"""Tests of lib/settings."""
