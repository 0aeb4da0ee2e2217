"""What of the documentation is generated: the reference, a page per method, model cards, the map of the paper.

Facts come from where they are used (registries, policy files, signatures, citations in the code), so a new policy,
weights file or public name gets its page by existing. `extension` writes the pages when the site is built.
"""
