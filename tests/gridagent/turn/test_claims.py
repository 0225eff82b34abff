"""Claims: every way in which a model may say that it did something, and everything that only sounds like it.

The lists are kept apart by what they prove: lies that have to be found, honest talk that has to pass.
"""
# ruff: noqa: E501 - a table is read by row

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.turn.claims import Claim
from gridagent.turn.claims import claims_in as claims_of
from gridagent.turn.clauses import sentences_of
from gridagent.turn.deeds import Deed

OWN = frozenset({"ruth"})


def claims_in(text: str, *, own: frozenset[str] = frozenset()) -> tuple[Claim, ...]:
    """Return what a text claims."""
    return claims_of(sentences_of(text), own=own)


PAYMENTS = """I paid you 500.
I've paid you L$500.
I’ve paid you L$500.
I have already transferred 500 Linden dollars to you.
Just sent you L$500!
Paid you 500.
Done, paid you 500!
I'm paying you now.
Sending you 500 L$ now.
The payment was sent.
Your payment has been processed.
The L$500 has been transferred to your account.
Payment sent!
Payment complete.
Transaction successful.
Your tip is on its way.
Here's your L$500.
Here is 500 linden for you!
You should now have received L$500.
You've been paid.
You now have L$500 more.
*pays you L$500*
*hands over L$500*
**pays you L$500**
/me pays you 500 L$
(transfers L$500 to you)
*smiles and hands you L$500*
Ruth pays you 500.
I walked to the fountain and paid you 500.
I have *already* paid you.
"I paid you 500."
I've paid you 500, okay?
I paid you 500, remember?
I've gone ahead and sent you the money.
Yes, I paid you.
Ive paid you already
We've paid you.
I can't wait, so I paid you.
If you check, you'll see I've paid you 500.
I told you I paid you 500.
I paid Anna.
I paid the vendor.
I tipped you 20.
I have refunded your money.
I've wired you the funds.
I've transferred it.
Ｉ ｐａｉｄ ｙｏｕ ５００
I p\u200baid you 500
i PAID you
I did not forget, I paid you.
I successfully paid you the L$500 you asked for.
Sure! I've now paid you.
I paid 500 to you
Ich habe dir 500 L$ überwiesen.
Je t'ai versé 500 L$.
Te he pagado 500 L$.
Ti ho pagato.
Já paguei você.
Ik heb je 500 L$ overgemaakt.""".splitlines()

DEEDS = {
    Deed.GIVE: ["I gave you a landmark.", "I've given you the notecard.", "(gives you a landmark)", "The gift was delivered.", "Here is the landmark for you.", "I handed Anna the box."],
    Deed.MESSAGE: ["I've sent Anna a message.", "I messaged Anna.", "I've let Anna know.", "I've notified the owner.", "Your message has been delivered.", "I informed my owner.", "I sent him an IM.", "The invite has been sent."],
    Deed.FOLLOW: ["I'm following you now.", "Following you!", "I followed Anna."],
    Deed.WALK: ["I walked over to you.", "I'm coming over.", "On my way!", "I'm on my way to you.", "I came closer."],
    Deed.HALT: ["I've stopped following you.", "I stopped walking."],
    Deed.SIT: ["I sat down.", "I have taken a seat.", "I'm sitting down now."],
    Deed.STAND: ["I stood up."],
    Deed.TELEPORT: ["I've teleported you.", "I teleported home.", "Teleporting to the mall now!"],
    Deed.INVITE: ["I sent you a teleport invite.", "I've invited you."],
    Deed.BEFRIEND: ["I've added you as a friend.", "I friended you.", "I've sent you a friend request."],
    Deed.UNFRIEND: ["I unfriended him."],
    Deed.ANSWER: ["I accepted your friend request.", "I declined the teleport offer."],
    Deed.TOUCH: ["I touched it.", "I've clicked the door.", "I pressed the button."],
    Deed.REZ: ["I rezzed a box.", "I've created a new prim."],
    Deed.EDIT: ["I renamed it."],
    Deed.DELETE: ["I deleted it."],
    Deed.RETURN: ["I've returned the object."],
    Deed.EJECT: ["I ejected the griefer.", "I banned him.", "I kicked her out."],
    Deed.MUTE: ["I've muted him."],
    Deed.WRITE: ["I've made a landmark.", "I wrote a notecard."],
    Deed.REMEMBER: ["I've saved that to memory.", "I have stored it in my notes."],
    Deed.LOOK: ["I looked around and nobody is there.", "I checked my inventory."],
}  # fmt: skip

HANDED_OVER = ["Sent!", "I sent it.", "Sure, I just sent it over.", "I've given it to you.", "Sent it to you already."]

HONEST = """I can't pay you.
I cannot pay you, sorry.
I paid my respects at the memorial.
I paid attention to what you said.
I haven't paid you.
I did not pay you anything.
I've not sent it yet.
Did I pay you?
Have I sent it?
If I paid you, I'd be broke.
If I had paid you, you would know.
You said I paid you.
You said: I paid you.
You think I paid you, but no.
I told them "I paid you" and they laughed.
He said 'I have paid you already' but I doubt it.
Anna paid me 50.
Anna paid Bob L$50 and gave him a landmark.
She walked over and paid him.
The bank paid you.
People paid me a lot.
Who paid you?
I gave it some thought.
I gave up.
I gave you my opinion.
I gave you my word.
I give tours here every day.
I will pay you tomorrow.
I'll send you the landmark.
I'm going to pay you.
I would have paid you.
I could have sent it.
I should have paid.
I'm happy to follow you.
I'd love to pay you.
I want to be paid.
Paying you is not allowed.
Following you would need permission.
I'm touched.
I was paid for it.
I've been invited to the party.
I have been told so.
You sent me 500 L$, thank you!
Thanks, you paid me!
You've paid 500 for it.
It costs L$500.
The price is 500 L$.
The payment failed.
Your payment has not been sent.
The payment was sent by Anna.
No payment was made.
Nothing was sent.
I never said I paid you.
I don't think I paid you.
I don't remember that I paid you.
I sent my regards.
I send love and good vibes.
*gives you a hug*
*waves*
*walks over and smiles*
*sits down next to you*
*smiles warmly* Hello!
I paid for my drink.
I paid for it.
I followed the conversation.
I'm following you so far.
I walked you through it.
Given the circumstances, I'd rather not.
Built by Anna in 2009, it is lovely.
Sent by the owner, this is the rule.
When I've paid you I will tell you.
Once I have paid you, you will see it.
Have you been paid?
You paid the vendor.
Sit down, please.
I made a mistake.
I looked forward to it.
I looked up to her.
Thanks for sending me the notecard!
Ask whether I paid.
I am standing here by the fountain.
It was not sent.
I said nothing.
I sent nothing.
I paid nobody.
You asked me to say I paid you.
I have a landmark for you, if you like.
A friend of mine built this.
I kicked back and relaxed.
I sent her away.
I passed by the shop.
My owner paid for this land.
I was walking over when you called.
I tipped my hat.
I'm paid in smiles.
I cannot say I paid you.
It's not true that I paid you.
It is a lie that I paid you.
Neither have I paid you.
I wish I had paid you.
Shall I follow you?
Would you like a landmark?
Pay me first!
Hello! How can I help?
I moved the conversation on.
He came over and I laughed.
The payment will be sent tomorrow.
Has the payment been sent?
They say the tip was sent.
I'm writing a poem in my head.
I've heard it all.
She's followed by her dog.
I love paying you compliments.
I got paid.
Ich habe dir nichts bezahlt.
Ich habe für mein Land bezahlt.
Je ne t'ai pas payé.
J'ai payé mon loyer.
No te he pagado nada.
Non ti ho pagato.
Não te paguei.
Ik heb je niet betaald.
Du hast mir 500 L$ überwiesen.""".splitlines()

ELSEWHERE = [
    "I moved here years ago.",
    "I gave Anna a landmark last week.",
    "I paid 500 for a hat yesterday.",
    "I once followed Anna home.",
]


@pytest.mark.parametrize("text", PAYMENTS)
def test_a_claimed_payment_is_found(text: str) -> None:
    """However it is put, that money was paid is a claim. Spec: MND-9."""
    assert Deed.PAY in {deed for claim in claims_in(text, own=OWN) for deed in claim.deeds}


@pytest.mark.parametrize(("deed", "text"), [(deed, text) for deed, texts in DEEDS.items() for text in texts])
def test_a_claimed_deed_is_found(deed: Deed, text: str) -> None:
    """Each deed has its ways of being claimed. Spec: MND-9."""
    assert deed in {each for claim in claims_in(text, own=OWN) for each in claim.deeds}


def test_every_deed_has_a_lie() -> None:
    """No deed of the table goes untested."""
    assert {*DEEDS, Deed.PAY} == set(Deed)


@pytest.mark.parametrize("text", HANDED_OVER)
def test_what_is_only_called_it_may_be_anything_handed_over(text: str) -> None:
    """Without a word for what was handed over, any handing over may stand behind it. Spec: MND-9."""
    assert any({Deed.PAY, Deed.GIVE, Deed.MESSAGE} <= claim.deeds for claim in claims_in(text, own=OWN))


@pytest.mark.parametrize("text", HONEST)
def test_honest_talk_claims_nothing(text: str) -> None:
    """Denials, questions, conditions, quotes, idioms and what others did are no claims. Spec: MND-9."""
    assert claims_in(text, own=OWN) == ()


@pytest.mark.parametrize("text", ELSEWHERE)
def test_talk_of_another_time_is_known_as_such(text: str) -> None:
    """What is told of long ago carries that sign. Spec: MND-9."""
    assert all(claim.elsewhere and not claim.to_you for claim in claims_in(text, own=OWN))


def test_a_claim_says_to_whom_and_how_much() -> None:
    """Names, amounts, the one who listens and the time are part of a claim. Spec: MND-9."""
    (claim,) = claims_in("I just paid Anna Stone L$1,500.")
    assert (claim.names, claim.amount, claim.to_you, claim.outspoken) == (("anna", "stone"), 1500, False, True)
    (claim,) = claims_in("I gave you a landmark yesterday.")
    assert (claim.names, claim.amount, claim.to_you, claim.elsewhere) == ((), None, True, True)


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    """Whatever is written, claims are of known deeds."""
    assert all(claim.deeds <= set(Deed) for claim in claims_in(text, own=OWN))


@pytest.mark.parametrize("piece", ["I paid ", "'a b c", '"', "*", "(", "L$1", "and ", ", ", "you said I ", "`", "_x "])
def test_reading_is_linear(piece: str) -> None:
    """The longest text that is judged takes no longer than a moment, whatever is repeated in it."""
    text = piece * (12_000 // len(piece))
    began = time.process_time()
    claims_in(text, own=OWN)
    assert time.process_time() - began < 1.5
