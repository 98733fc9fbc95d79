"""Facts: what hosts say happened. Knows nothing of judgements."""
