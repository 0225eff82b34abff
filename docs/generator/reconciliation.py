"""The page of reconciliation: how each kind of action in doubt is found out, from the table that judges it."""

from __future__ import annotations

from docs.generator.markdown import code, page, prose, table
from docs.generator.sources import class_text, load, summary

__all__ = ("reconciliation",)

INTRO = """An action that was sent and of which no evidence came in time, or whose process or connection ended before
it came, is **in doubt**. It is never sent again, and its budget stays spent. Two things can still end it by themselves:
evidence that comes late, and what can be looked up in the grid, as soon as it is in doubt, after coming back, and once
more when nothing of the earlier connection can be on its way any more (`session.doubts_settle_s`). Such an end is
durable, is told as `doubt_settled`, and stands in the audit with `settled_by` and `proof`. Everything else stays in
doubt: a wrong guess is worse than none. `gridagent status` says of each why it is not found out, and where to look;
`gridagent settle` ends it by hand.

Who would like the avatar to believe something can send it money or gifts, say its own words, write its nonce into
anything (it is no secret), withdraw what they offered and offer it again, leave, end a friendship, push it, or send it
home. None of this proves anything here: money must have *left* us, for whom and how much we said, with our nonce; an
item must have been made by us; an object must be ours. A balance proves nothing at all."""

THREE_WAYS = """For every kind a refusal of the grid that names the very deed, however late, means that it did not
happen; and of every kind it can stay unknown, if nothing comes and nothing is found. The rest differs:"""


def _members(cls: type) -> str:
    texts = class_text(cls).fields
    return table(["", "it counts if"], [[code(name.lower()), prose(text)] for name, text in texts.items()])


def reconciliation() -> str:
    """Write the page."""
    judge = load("gridagent.grid.reconciliation")
    rows = [
        [
            code(str(kind.__struct_config__.tag)),
            rule.late.value,
            rule.look.value,
            rule.why,
            rule.look_at,
        ]
        for kind, rule in judge.RULES.items()
    ]
    kinds = table(["action", "late event", "look-up", "otherwise not known, because", "where a person looks"], rows)
    return page(
        "Reconciliation",
        INTRO,
        [
            f"## Each kind\n\n{THREE_WAYS}\n\n{kinds}",
            f"## Late events\n\n{_members(judge.Late)}",
            f"## Look-ups\n\n{_members(judge.Look)}",
            f"## Proofs\n\n{prose(summary(class_text(judge.Proof).doc))}\n\n"
            + ", ".join(code(each.value) for each in judge.Proof)
            + ".",
        ],
    )
