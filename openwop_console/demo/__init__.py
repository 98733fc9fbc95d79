"""A small but true OpenWOP v1 host, and the player that runs it against a Console.

It exists so that `make demo` shows real work arriving through the real doors, and so that tests
have a remote host that answers as real ones do. It keeps everything in memory, calls no model, and
is never part of a deployment.
"""
