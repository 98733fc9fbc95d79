"""The Console as a host: how its own runs look to an OpenWOP client, and what it may answer them.

Plain rules over values, for both majors of the protocol. See docs/adr/0012.
"""
