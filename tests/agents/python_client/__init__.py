"""Tests of lib/agents/python_client."""
