"""Many machines: an existing Ray cluster as a place to work. Nothing here starts one.

`versions` says who may take part, `parcels` what travels, `connection` joins a cluster and streams tasks through it.
Ray is imported by `connection` and `parcels` alone, when a command asks for a cluster.
"""
