"""Work on an existing Ray cluster; nothing here starts one.

`node_versions` says which nodes may take part, `serialization` what is sent to them, `connection` joins a cluster and
streams tasks through it; `experiments` and `training` run on top. Ray is imported when a command asks for a cluster.
"""
