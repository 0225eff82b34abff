"""A second, deliberately simple gateway: everything the contract promises, written the slow and obvious way.

A second reading of ``docs/reference/policy.md``: lists, loops and the section as it was written; no table is
compiled, and nothing is shared with the gateway but the vocabulary and the structs of answers and rows.
`tests/volume/test_reference_gateway.py` runs both side by side on random histories (Spec: POL-13).

Its invariant: where the two differ, one of them is wrong, and this one is short enough to be read against the
contract.
"""

from gridagent.policy.reference.books import Sizes as Sizes
from gridagent.policy.reference.gateway import ReferenceGateway as ReferenceGateway

__all__ = ("ReferenceGateway", "Sizes")
