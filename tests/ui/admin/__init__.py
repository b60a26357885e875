"""Tests of lib/ui/admin."""
