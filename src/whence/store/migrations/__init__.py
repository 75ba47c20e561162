"""How the tables of a store came to be what they are: see `versions`.

A change of the tables is a new file there, never a change of an old one: stores that exist have
been through these.
"""
