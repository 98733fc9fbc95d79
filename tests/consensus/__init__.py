"""Golden vectors of the consensus engine: read, driven with scripted models, and compared."""
