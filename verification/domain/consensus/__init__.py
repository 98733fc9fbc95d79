"""Consensus, tasks and teams as pure functions over a history.

A job asks `steps.next_step(rules, history)` what to do, does that one thing, records the reply and
asks again. Nothing here calls a model, reads a clock or touches a table, so a job that was killed
goes on from what is recorded and asks nobody twice.
"""
