"""The rules of the presence chain, one file each; `gridagent.presence.chain` holds their order (Spec: PRS-1).

Each has one function ``judge(heard, room)``: it returns the code of its reason to stay quiet, or None to let the
next rule judge. Only `addressed` and `ambient` open a turn; no rule performs anything.
"""
