"""Tests of lib/database."""
