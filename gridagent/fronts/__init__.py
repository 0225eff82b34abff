"""Edges of the service: translators from requests to controls, and from observations to protocol frames.

A front sees `gridagent.service.api` and the vocabulary, holds no executor and no state beyond its
streams; what it wants done is a control, and the policy gateway decides on every action in it.
"""
