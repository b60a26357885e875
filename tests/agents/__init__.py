"""Tests of lib/agents."""
