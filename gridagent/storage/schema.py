"""The tables, as the newest version has them, and the marks by which a file is known to be ours.

Owns the SQL of every table and index; `gridagent.storage.migrations` brings older files here. One file a
record family reads and writes them. Invariant: what stands here is exactly what a fresh or upgraded
database has, compared word by word at every start (Spec: EFX-4, Fault: 41).
"""

from __future__ import annotations

from typing import Final

__all__ = ("APPLICATION_ID", "LEDGER_TABLES", "SCHEMA_1", "SCHEMA_VERSION")

APPLICATION_ID: Final = 0x67_72_69_64
"""``grid`` in ASCII: what SQLite keeps in the header of our files."""
SCHEMA_VERSION: Final = 1

SCHEMA_1: Final = (
    # What is true of the whole file: ledger, began_at, audit_dropped.
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID",
    # One row an avatar: what there is exactly one of.
    """CREATE TABLE avatar (
  avatar TEXT PRIMARY KEY,
  run INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  clock_us INTEGER,
  wall_high_us INTEGER,
  audit_run INTEGER NOT NULL,
  audit_seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE budget (
  avatar TEXT NOT NULL,
  meter TEXT NOT NULL,
  per TEXT NOT NULL,
  window_s INTEGER NOT NULL,
  key TEXT NOT NULL,
  buckets TEXT NOT NULL,
  empty_after_us INTEGER NOT NULL,
  PRIMARY KEY (avatar, meter, per, window_s, key)
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE effect (
  effect TEXT PRIMARY KEY,
  avatar TEXT NOT NULL,
  run INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('reserved', 'sent', 'confirmed', 'refused', 'in_doubt')),
  action TEXT NOT NULL,
  capability TEXT NOT NULL,
  effect_class TEXT NOT NULL,
  canonical BLOB NOT NULL,
  request BLOB NOT NULL,
  role TEXT NOT NULL,
  rule TEXT NOT NULL,
  charge BLOB NOT NULL,
  reserved_at REAL NOT NULL,
  sent_at REAL,
  settled_at REAL,
  outcome BLOB
) STRICT, WITHOUT ROWID""",
    "CREATE INDEX effect_open ON effect (avatar) WHERE state IN ('reserved', 'sent')",
    "CREATE INDEX effect_in_doubt ON effect (avatar, settled_at) WHERE state = 'in_doubt'",
    "CREATE INDEX effect_ended ON effect (settled_at) WHERE state IN ('confirmed', 'refused')",
    "CREATE INDEX effect_known ON effect (avatar, settled_at) WHERE state IN ('confirmed', 'refused')",
    """CREATE TABLE approval (
  approval_id TEXT PRIMARY KEY,
  avatar TEXT NOT NULL,
  state TEXT NOT NULL,
  effect TEXT NOT NULL,
  nonce_hash BLOB NOT NULL,
  wrong_nonces INTEGER NOT NULL,
  canonical BLOB NOT NULL,
  request BLOB NOT NULL,
  rule TEXT NOT NULL,
  summary TEXT NOT NULL,
  policy_version TEXT NOT NULL,
  opened_at REAL NOT NULL,
  expires_at REAL NOT NULL,
  moved_at REAL,
  answered_by TEXT NOT NULL
) STRICT, WITHOUT ROWID""",
    "CREATE INDEX approval_waiting ON approval (avatar, expires_at) WHERE state IN ('pending', 'allowed')",
    "CREATE INDEX approval_ended ON approval (moved_at) WHERE state NOT IN ('pending', 'allowed')",
    """CREATE TABLE schedule_grant (
  grant_id TEXT PRIMARY KEY,
  avatar TEXT NOT NULL,
  principal BLOB NOT NULL,
  canonical BLOB NOT NULL,
  summary TEXT NOT NULL,
  policy_version TEXT NOT NULL,
  given_by TEXT NOT NULL,
  given_at REAL NOT NULL,
  valid_from REAL NOT NULL,
  valid_until REAL NOT NULL,
  every_s REAL NOT NULL,
  uses_max INTEGER NOT NULL,
  used INTEGER NOT NULL,
  last_used_at REAL,
  last_effect TEXT,
  revoked_at REAL,
  revoked_by TEXT NOT NULL
) STRICT, WITHOUT ROWID""",
    "CREATE INDEX grant_of_avatar ON schedule_grant (avatar, given_at)",
    """CREATE TABLE audit (
  row INTEGER PRIMARY KEY,
  avatar TEXT NOT NULL,
  run INTEGER NOT NULL,
  at REAL NOT NULL,
  kind TEXT NOT NULL,
  body BLOB NOT NULL
) STRICT""",
    "CREATE INDEX audit_of_avatar ON audit (avatar, at)",
    """CREATE TABLE segment (
  number INTEGER PRIMARY KEY,
  sealed INTEGER NOT NULL,
  first_row INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  first_at REAL,
  last_at REAL,
  previous BLOB NOT NULL,
  digest BLOB NOT NULL
) STRICT""",
)
"""Schema 1, in the order in which it is created."""

LEDGER_TABLES: Final = ("meta", "avatar", "budget", "effect", "approval", "schedule_grant", "segment")
"""Tables of bounded size whose pages are checked at every start."""
