"""The Console on one machine: two servers, a web process, a worker and a clock, all as children.

Production does not use this package: there an operator, or `docker-compose.yml`, runs the same
processes. Nothing here knows what a run or a verdict is.
"""
