"""A mind that becomes somebody else while it lives (Spec: PRS-6, SUP-8)."""

from gridagent.config.presence import PresenceSection
from gridagent.language import SystemTurn
from gridagent.presence.persona import parse_persona


def test_from_the_next_turn_on_it_is_who_the_new_persona_says(bench):
    """Spec: PRS-6, MND-4 — a turn under way ends as who it began; the next has the new style and not the old words."""
    b = bench(section={"disclose": True})
    b.say("Robin, who are you?")
    persona = parse_persona(b"---\nname: Wren\ndisclosure: I am a machine.\n---\nYou are a wren.")
    section = PresenceSection(speech_pause_max_s=0.0, disclose=True)
    b.mind.take_over(persona, ("Wren",), section)
    assert not any("You are a wren." in turn.text for turn in b.asked[0].what.request.turns)
    b.reply("A robin, of old.")
    b.say("Robin, and who else?", "00000000-0000-4000-8000-0000000000b2")
    assert b.attention[-1] == "quiet:not_addressed"
    b.say("Wren, and who are you now?")
    system = "\n".join(turn.text for turn in b.asked[0].what.request.turns if isinstance(turn, SystemTurn))
    everything = "\n".join(turn.text for turn in b.asked[0].what.request.turns)
    assert "You are a wren." in system
    assert "A robin, of old." not in everything
