"""Jobs as values: what may be asked for, what it may cost, what is told of it.

The procedure itself is `verification.domain.consensus`; nothing here calls a model or a table.
"""
