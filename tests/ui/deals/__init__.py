"""Tests of lib/ui/deals."""
