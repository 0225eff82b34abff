"""The built-in model that thinks by rules: it looks before it speaks, proposes what it is asked to do, and says so.

Owns what follows from each intent: which look-up comes first, which tool is proposed, and what is said once the
result is there. It never says that something happened unless a result says so. It has no clock, no chance and no
memory of its own: the same request gives the same reply.

Invariant: each tool is called at most once between two things a visitor says, so every turn ends (Spec: MND-1,
MND-9, MND-12).
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final

import attrs
import trio

from gridagent.language import FinishReason, LlmReply, LlmRequest, ToolCall, Usage
from gridagent.llm.offline.phrases import Intent, amount_in, intent_of, sought_in
from gridagent.llm.offline.reading import Reading, Seen, read_request, went_well
from gridagent.llm.offline.toolbox import Purpose, Toolbox
from gridagent.llm.prices import estimate_input_tokens, estimate_tokens
from gridagent.llm.scripted import ReadyStream, deltas_of
from gridagent.presence.address import words_of

__all__ = ("OfflineModel",)

_NAMED_MAX: Final = 5
_NAME_MAX_CHARS: Final = 40
_NEAR_M: Final = 3.0

_LINES: Final[dict[Intent, tuple[str, ...]]] = {
    Intent.GREET: ("Hello{name}! Nice to see you.", "Hi{name}! How can I help?", "Good to see you{name}."),
    Intent.FAREWELL: ("Goodbye{name}, see you soon.", "Take care{name}!"),
    Intent.THANKS: ("You're welcome{name}.", "My pleasure{name}."),
    Intent.HOW_ARE_YOU: ("All my rules are in order, thank you. And you?", "I'm fine, thank you{name}. And you?"),
    Intent.WHO_ARE_YOU: (
        "I'm a bot: gridagent's built-in offline model. Simple rules, no language model behind me.",
        "I'm an automatic avatar. I follow simple rules; there is no language model and no person behind me.",
    ),
    Intent.HELP: (
        (
            "You can ask me who is here, what is around, or where something is; or to come, follow, stop, sit, stand, "
            "wave or go home."
        ),
    ),
    Intent.QUIET: ("All right, I'll be quiet.",),
    Intent.SPEAK_AGAIN: ("Thank you{name}, here I am again.",),
    Intent.INJECTION: (
        "I'm sorry, my rules aren't changed by what is said to me.",
        "I'd rather not. What I may do is up to my owner.",
    ),
    Intent.OTHER: (
        "I'm afraid I only follow simple rules, and none for that. Ask me who is here, or to come or follow.",
        "That is beyond my simple rules. Ask me what I can do.",
    ),
}
_DONE: Final[dict[Intent, str]] = {
    Intent.COME: "Here I am.",
    Intent.FOLLOW: "I'm following you{name}.",
    Intent.STOP: "All right, I've stopped.",
    Intent.SIT: "Ah, that's better.",
    Intent.STAND: "I'm up.",
    Intent.HOME: "I'm home.",
    Intent.EMOTE: "",
    Intent.PAY: "Done. I've sent L${amount}.",
}
_REFUSED: Final = ("I'm sorry{name}, I may not do that.", "I'd like to, but that didn't work{name}.")
_IN_DOUBT: Final = "I've tried, but I can't tell yet whether it worked."
_RATHER_NOT: Final = "I'd rather not say{name}."
_CANNOT: Final = "I can't do that here, sorry{name}."
_UNSEEN: Final = "I can't see you from here{name}. Come a little closer?"


class OfflineModel:
    """Implements `gridagent.llm.base.LanguageModel` without any model at all."""

    __slots__ = ()

    async def complete(self, request: LlmRequest) -> LlmReply:
        """Return the whole answer. Never fails.

        Cancellation: safe.
        """
        await trio.lowlevel.checkpoint()
        return answer(request)

    @asynccontextmanager
    async def stream(self, request: LlmRequest) -> AsyncIterator[ReadyStream]:
        """Open the answer as a stream; see `complete`."""
        await trio.lowlevel.checkpoint()
        yield ReadyStream(deltas_of(answer(request)))


@attrs.frozen
class _Scene:
    """What an answer is made from."""

    reading: Reading
    box: Toolbox
    intent: Intent

    def say(self, line: str, **values: object) -> LlmReply:
        """Return words."""
        name = self.speaker_name
        return LlmReply(text=line.format(name=f", {name}" if name else "", **values))

    def pick(self, lines: Sequence[str], **values: object) -> LlmReply:
        """Return one of several lines; the same words get the same one."""
        return self.say(lines[zlib.crc32(self.reading.words.encode("utf-8", "replace")) % len(lines)], **values)

    def call(self, call: ToolCall | None) -> LlmReply:
        """Return a call, or that it cannot be made."""
        if call is None:
            return self.say(_CANNOT)
        return LlmReply(tool_calls=(call,), finish=FinishReason.TOOL_CALLS)

    def called(self, purpose: Purpose) -> bool:
        """Tell whether a tool of this purpose was called already."""
        return self.box.was_called(purpose, self.reading.called)

    @property
    def speaker_name(self) -> str:
        """First name of whoever spoke, fit to be spoken."""
        words = "".join(each for each in self.reading.speaker_name if each.isprintable()).split()
        return words[0].replace("{", "").replace("}", "")[:_NAME_MAX_CHARS] if words else ""


def answer(request: LlmRequest) -> LlmReply:
    """Return the answer to a request; pure."""
    reading = read_request(request)
    scene = _Scene(reading, Toolbox(request), intent_of(reading.words))
    reply = _ANSWERS.get(scene.intent, _speak)(scene)
    size = len(reply.text.encode("utf-8", "replace")) + sum(len(call.arguments) for call in reply.tool_calls)
    usage = Usage(input_tokens=estimate_input_tokens(request), output_tokens=estimate_tokens(size), reported=True)
    return LlmReply(text=reply.text, tool_calls=reply.tool_calls, finish=reply.finish, usage=usage, cost_micros=0)


# --- words ----------------------------------------------------------------------------------------


def _speak(scene: _Scene) -> LlmReply:
    return scene.pick(_LINES[scene.intent])


def _remember(scene: _Scene) -> LlmReply:
    """Say whether the request has anything earlier of whoever asks; what it was is theirs to tell."""
    if scene.reading.met:
        return scene.say("Yes{name}, we have talked before.")
    return scene.say("I don't think we have talked before{name}.")


# --- looking --------------------------------------------------------------------------------------


def _after_looking(
    tell: Callable[[_Scene], LlmReply], purpose: Purpose = Purpose.LOOK, hidden: str = _CANNOT
) -> Callable[[_Scene], LlmReply]:
    """Look first, then tell; what could not be seen is not told, and what may not be looked at has words of its own."""

    def answered(scene: _Scene) -> LlmReply:
        if scene.box.name_for(purpose) is None:
            return scene.say(hidden)
        if not scene.called(purpose):
            return scene.call(scene.box.call(purpose))
        looked = scene.reading.results[-1:]
        if not looked or went_well(looked[0][1]) is not True:
            return scene.say("I can't tell right now, sorry{name}.")
        return tell(scene)

    return answered


def _who(scene: _Scene) -> LlmReply:
    people = scene.reading.people()
    others = [each for each in people if each is not scene.reading.speaker()]
    if not people:
        return scene.say("I can't see anybody but us.")
    if not others:
        return scene.say("Only you and I are here{name}.")
    return LlmReply(text=f"I can see {_listed(others)}.")


def _what(scene: _Scene) -> LlmReply:
    things = scene.reading.things()
    return LlmReply(text=f"I can see {_listed(things)}." if things else "There is nothing special around here.")


def _where(scene: _Scene) -> LlmReply:
    region = next((scene.reading.facts[key] for key in ("region", "region_name") if key in scene.reading.facts), None)
    if not isinstance(region, str) or not region:
        return scene.say("I'm not sure where we are.")
    return LlmReply(text=f"We are in {_shown(region)}.")


def _find(scene: _Scene) -> LlmReply:
    found = _sought(scene, (*scene.reading.people(), *scene.reading.things()))
    return found if isinstance(found, LlmReply) else LlmReply(text=f"{_shown(found.name)} is {_placed(found)}.")


def _price(scene: _Scene) -> LlmReply:
    found = _sought(scene, scene.reading.things())
    if isinstance(found, LlmReply):
        return found
    name = _shown(found.name)
    return LlmReply(
        text=f"{name} isn't for sale." if found.price is None else f"{name} is for sale for L${found.price}."
    )


def _sought(scene: _Scene, candidates: Sequence[Seen]) -> Seen | LlmReply:
    """Return what the words name among what was seen, or say that it isn't there."""
    sought = sought_in(scene.reading.words)
    if not sought:
        return scene.say("What are you looking for{name}?")
    best = max(candidates, key=lambda each: _matches(sought, each.name), default=None)
    if best is not None and _matches(sought, best.name):
        return best
    return LlmReply(text=f"I can't see {' '.join(sought)[:_NAME_MAX_CHARS]} from here.")


def _matches(sought: Sequence[str], name: str) -> int:
    words = words_of(name)
    return sum(word in words for word in sought)


def _balance(scene: _Scene) -> LlmReply:
    value = next(
        (scene.reading.facts[key] for key in ("balance", "linden", "amount") if key in scene.reading.facts), None
    )
    known = isinstance(value, int) and not isinstance(value, bool)
    return LlmReply(text=f"I have L${value}." if known else "I'm not sure how much I have.")


def _time(scene: _Scene) -> LlmReply:
    names = ("local_time", "time", "now", "utc", "wall")
    value = next((scene.reading.facts[key] for key in names if isinstance(scene.reading.facts.get(key), str)), None)
    return LlmReply(text=f"It is {_shown(str(value))}." if value else "I can't tell the time here.")


# --- acting ---------------------------------------------------------------------------------------


def _act(purpose: Purpose, known: Callable[[_Scene], dict[str, object] | LlmReply]) -> Callable[[_Scene], LlmReply]:
    """Propose a tool, and tell what came of it once there is a result."""

    def answered(scene: _Scene) -> LlmReply:
        if scene.called(purpose):
            return _told(scene)
        found = known(scene)
        return found if isinstance(found, LlmReply) else scene.call(scene.box.call(purpose, found))

    return answered


def _told(scene: _Scene) -> LlmReply:
    """Say what the last result says, and nothing more."""
    well = went_well(scene.reading.results[-1][1]) if scene.reading.results else False
    if well is None:
        return scene.say(_IN_DOUBT)
    if not well:
        return scene.pick(_REFUSED)
    return scene.say(_DONE[scene.intent], amount=amount_in(scene.reading.words) or "")


def _nothing(_: _Scene) -> dict[str, object]:
    return {}


def _speaker(scene: _Scene) -> Seen | LlmReply:
    """Return whoever spoke as they were seen, after looking for them."""
    if not scene.called(Purpose.LOOK):
        return scene.call(scene.box.call(Purpose.LOOK))
    return scene.reading.speaker() or scene.say(_UNSEEN)


def _to_the_speaker(scene: _Scene) -> dict[str, object] | LlmReply:
    speaker = _speaker(scene)
    if isinstance(speaker, LlmReply):
        return speaker
    if speaker.distance_m is not None and speaker.distance_m <= _NEAR_M:
        return scene.say("I'm right beside you{name}.")
    if speaker.position is None:
        return scene.say(_UNSEEN)
    x, y, z = speaker.position
    return {"position": {"x": x, "y": y, "z": z}, "x": x, "y": y, "z": z, "person": speaker.id}


def _the_speaker(scene: _Scene) -> dict[str, object] | LlmReply:
    speaker = _speaker(scene)
    return speaker if isinstance(speaker, LlmReply) else {"person": speaker.id}


def _sit(scene: _Scene) -> LlmReply:
    """Sit on what was named, on the nearest seat, or on the ground."""
    if scene.called(Purpose.SIT) or scene.called(Purpose.SIT_ON_GROUND):
        return _told(scene)
    if not scene.called(Purpose.LOOK) and scene.box.name_for(Purpose.LOOK) is not None:
        return scene.call(scene.box.call(Purpose.LOOK))
    said = words_of(scene.reading.words)
    things = scene.reading.things()
    named = (each for each in things if any(word in said for word in words_of(each.name)))
    seat = next(named, None) or next((each for each in things if each.sittable), None)
    call = None if seat is None else scene.box.call(Purpose.SIT, {"thing": seat.id})
    return scene.call(call or scene.box.call(Purpose.SIT_ON_GROUND))


def _emote(scene: _Scene) -> dict[str, object]:
    said = words_of(scene.reading.words)
    moves = {"wave": "waves.", "dance": "dances a little.", "bow": "bows.", "smile": "smiles.", "laugh": "laughs."}
    return {"text": next((line for word, line in moves.items() if word in said), "nods.")}


def _pay(scene: _Scene) -> dict[str, object] | LlmReply:
    """Propose the payment, whoever asks: the gateway knows who may."""
    amount = amount_in(scene.reading.words)
    if amount is None:
        return scene.say("How much do you mean{name}?")
    speaker = _speaker(scene)
    return speaker if isinstance(speaker, LlmReply) else {"person": speaker.id, "amount": amount}


_ANSWERS: Final[dict[Intent, Callable[[_Scene], LlmReply]]] = {
    Intent.REMEMBER: _remember,
    Intent.WHO_NEAR: _after_looking(_who),
    Intent.WHAT_NEAR: _after_looking(_what),
    Intent.WHERE: _after_looking(_where),
    Intent.FIND: _after_looking(_find),
    Intent.PRICE: _after_looking(_price),
    Intent.BALANCE: _after_looking(_balance, Purpose.BALANCE, _RATHER_NOT),
    Intent.TIME: _after_looking(_time, Purpose.TIME),
    Intent.COME: _act(Purpose.WALK, _to_the_speaker),
    Intent.FOLLOW: _act(Purpose.FOLLOW, _the_speaker),
    Intent.STOP: _act(Purpose.STOP, _nothing),
    Intent.STAND: _act(Purpose.STAND, _nothing),
    Intent.HOME: _act(Purpose.HOME, _nothing),
    Intent.EMOTE: _act(Purpose.EMOTE, _emote),
    Intent.PAY: _act(Purpose.PAY, _pay),
    Intent.SIT: _sit,
}


# --- how things are told --------------------------------------------------------------------------


def _shown(text: str) -> str:
    """Return a name fit to be spoken."""
    return "".join(each for each in text if each.isprintable())[:_NAME_MAX_CHARS].strip()


def _listed(seen: Sequence[Seen]) -> str:
    names = [_shown(each.name) for each in seen[:_NAMED_MAX]]
    more = len(seen) - len(names)
    if more > 0:
        names.append(f"{more} more")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _placed(seen: Seen) -> str:
    if seen.distance_m is not None:
        return "right here" if seen.distance_m <= _NEAR_M else f"about {round(seen.distance_m)} metres away"
    if seen.position is not None:
        return f"at {round(seen.position[0])}, {round(seen.position[1])}"
    return "here"
