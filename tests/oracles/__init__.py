"""Slow, obvious re-implementations of what the engine does, to hold it against. None of them reads the engine."""
