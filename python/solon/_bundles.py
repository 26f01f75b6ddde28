"""Values of the functions for bundles."""

from typing import NamedTuple, Union


class VerificationKey(NamedTuple):
    """A key that verifies the signatures of bundles."""

    #: The only algorithm that signatures may use, such as ``"RS256"``.
    algorithm: str
    #: A secret, or a public key or certificate in PEM.
    key: Union[str, bytes]
    #: Scope that signatures must have, unless ``Engine.read_bundle`` gets one; empty for none.
    scope: str = ""


class ActiveBundle(NamedTuple):
    """A bundle that is active in an engine."""

    #: The name that it was activated under.
    name: str
    #: The revision of its manifest; empty if there is none.
    revision: str
    #: Slash-separated paths below ``data`` that it owns.
    roots: list[str]
