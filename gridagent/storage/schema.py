"""The tables, as the newest version has them, and the marks by which a file is known to be ours.

Owns the SQL of every table and index; `gridagent.storage.migrations` brings older files here. One file a
record family reads and writes them. Invariant: what stands here is exactly what a fresh or upgraded
database has, compared word by word at every start (Spec: EFX-4, Fault: 41).
"""

from __future__ import annotations

from typing import Final

__all__ = ("APPLICATION_ID", "LEDGER_TABLES", "SCHEMA_1", "SCHEMA_2", "SCHEMA_VERSION")

APPLICATION_ID: Final = 0x67_72_69_64
"""``grid`` in ASCII: what SQLite keeps in the header of our files."""
SCHEMA_VERSION: Final = 2

SCHEMA_1: Final = (
    # What is true of the whole file: ledger, opened (how often), audit_dropped.
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID",
    # One row an avatar: what there is exactly one of.
    """CREATE TABLE avatar (
  avatar TEXT PRIMARY KEY,
  run INTEGER NOT NULL DEFAULT 0,
  generation INTEGER NOT NULL DEFAULT 0,
  held INTEGER NOT NULL DEFAULT 0,
  clock_us INTEGER,
  wall_high_us INTEGER,
  audit_run INTEGER NOT NULL DEFAULT 0,
  audit_seq INTEGER NOT NULL DEFAULT 0,
  changes INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID""",
    # Columns called number or ended hold the number of a change, which counts up over all avatars.
    """CREATE TABLE budget (
  avatar TEXT NOT NULL,
  meter TEXT NOT NULL,
  per TEXT NOT NULL,
  window_s INTEGER NOT NULL,
  key TEXT NOT NULL,
  buckets TEXT NOT NULL,
  empty_after_us INTEGER NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (avatar, meter, per, window_s, key)
) STRICT, WITHOUT ROWID""",
    # Rows are long and come at the end, so the number is the key and a commit touches few pages.
    """CREATE TABLE effect (
  number INTEGER PRIMARY KEY,
  avatar TEXT NOT NULL,
  effect TEXT NOT NULL,
  run INTEGER NOT NULL,
  ended INTEGER,
  state TEXT NOT NULL CHECK (state IN ('reserved', 'sent', 'confirmed', 'refused', 'in_doubt')),
  once INTEGER NOT NULL,
  reserved_at REAL NOT NULL,
  sent_at REAL,
  settled_at REAL,
  outcome BLOB,
  body BLOB
) STRICT""",
    "CREATE UNIQUE INDEX effect_key ON effect (avatar, effect)",
    "CREATE INDEX effect_open ON effect (avatar) WHERE ended IS NULL",
    "CREATE INDEX effect_known ON effect (avatar, once, ended) WHERE ended IS NOT NULL",
    """CREATE TABLE approval (
  avatar TEXT NOT NULL,
  approval_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  ended INTEGER,
  state TEXT NOT NULL,
  wrong_nonces INTEGER NOT NULL,
  answered_by TEXT NOT NULL,
  moved_at REAL,
  body BLOB NOT NULL,
  PRIMARY KEY (avatar, approval_id)
) STRICT, WITHOUT ROWID""",
    "CREATE INDEX approval_open ON approval (avatar, number) WHERE ended IS NULL",
    "CREATE INDEX approval_ended ON approval (avatar, ended) WHERE ended IS NOT NULL",
    """CREATE TABLE schedule_grant (
  avatar TEXT NOT NULL,
  grant_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  ended INTEGER,
  state TEXT NOT NULL,
  ended_by TEXT NOT NULL,
  ended_at REAL,
  use BLOB,
  body BLOB NOT NULL,
  PRIMARY KEY (avatar, grant_id)
) STRICT, WITHOUT ROWID""",
    "CREATE INDEX grant_open ON schedule_grant (avatar, number) WHERE ended IS NULL",
    "CREATE INDEX grant_ended ON schedule_grant (avatar, ended) WHERE ended IS NOT NULL",
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

SCHEMA_2: Final = (
    # One row a conversation: an avatar's with one person on one channel of one grid, or with one thread of a front.
    """CREATE TABLE conversation (
  number INTEGER PRIMARY KEY,
  avatar TEXT NOT NULL,
  scope TEXT NOT NULL,
  person TEXT,
  key BLOB NOT NULL,
  last INTEGER NOT NULL,
  last_at REAL NOT NULL
) STRICT""",
    "CREATE UNIQUE INDEX conversation_scope ON conversation (avatar, scope)",
    "CREATE INDEX conversation_person ON conversation (avatar, person) WHERE person IS NOT NULL",
    # Numbers of entries count up over all conversations of an avatar.
    """CREATE TABLE entry (
  conversation INTEGER NOT NULL,
  number INTEGER NOT NULL,
  kind TEXT NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (conversation, number)
) STRICT, WITHOUT ROWID""",
    "CREATE INDEX entry_used ON entry (conversation) WHERE kind = 'used'",
    """CREATE TABLE fact (
  number INTEGER PRIMARY KEY,
  avatar TEXT NOT NULL,
  fact_id TEXT NOT NULL,
  scope TEXT NOT NULL,
  source TEXT NOT NULL,
  told_by TEXT,
  about TEXT,
  region TEXT NOT NULL,
  at REAL NOT NULL,
  tainted INTEGER NOT NULL
) STRICT""",
    "CREATE UNIQUE INDEX fact_known ON fact (avatar, fact_id)",
    "CREATE INDEX fact_scope ON fact (avatar, scope, number)",
    # The words of facts, under the number of their fact, and nowhere else: what is deleted here is gone.
    "CREATE VIRTUAL TABLE fact_text USING fts5(text, tokenize = 'unicode61 remove_diacritics 2')",
    "INSERT INTO fact_text (fact_text, rank) VALUES ('secure-delete', 1)",
)
"""Schema 2 beside schema 1: conversations and facts (Spec: MEM-3, MEM-4, MEM-5)."""

LEDGER_TABLES: Final = ("meta", "avatar", "budget", "effect", "approval", "schedule_grant", "segment")
"""Tables of bounded size whose pages are checked at every start."""
