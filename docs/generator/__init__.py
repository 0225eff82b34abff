"""Writes the generated references under ``docs/reference/`` and says when one is stale.

Owns the pages whose truth is in the code or the tests; prose is written by hand elsewhere. Run it with
``python -m docs.generator``; with ``--check`` it writes nothing and fails on a stale page. Not shipped in
the wheel. Invariant: the pages depend on the checkout alone, never on time or machine.
"""
