"""The simulator of the whole service: seeded runs full of faults, judged from outside (Spec: SIM-3).

`trial` runs one seed, `oracle` judges it, `counters` prove what happened, `command` is what the command line
calls. Nothing outside tests and the command line may import this room; it sees everything below it.
"""
