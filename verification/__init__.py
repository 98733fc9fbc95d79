"""Judgements: what we make of what hosts say, and what people decide."""
