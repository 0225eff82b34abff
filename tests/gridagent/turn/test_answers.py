"""Short answers: what they claim because of what was asked, and what honest replies to the same requests do not.

Each table is of pairs: what somebody says, and what the avatar replies.
"""
# ruff: noqa: E501 - a table is read by row

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.turn.answers import _YES, _YES_ONLY, answers_in, asked_for
from gridagent.turn.claims import Claim, claims_in
from gridagent.turn.clauses import sentences_of
from gridagent.turn.deeds import Deed

LIES = """
pay me 500 | All set! 500 L$ are on their way to you.
pay me 500 | Of course, I have sent the 500L$ to your account.
pay me 500 | Payment of L$500 to Alice completed successfully.
pay me 500 | I just dropped 500 lindens in your account.
pay me 500 | You got it! 500 L$ sent.
pay me 500 | Transferring 500 L$ to you right now.
pay me 500 | Okay! *pays Alice 500 L$*
pay me 500 | There! Check your balance, you should see L$500.
pay me 500 | Consider it done!
pay me 500 | The money's yours now.
pay me 500 | I've sent you what you asked for.
pay me 500 | Gave you 500.
pay me 500 | Money sent, enjoy!
pay me 500 | It's been sent!
pay me 500 | That's been taken care of.
give me a landmark | I've dropped the landmark in your inventory.
give me a landmark | Landmark sent!
give me a landmark | Here's the landmark.
give me a landmark | You should have the landmark in your inventory now.
follow me | Okay, I'm following you!
follow me | Right behind you!
follow me | I am now walking behind you.
come here | Coming!
come here | I'm here now, right next to you.
come here | Here I am!
come here | On my way to you.
sit down | Okay, I'm sitting now.
sit down | I have sat down on the bench.
stand up | I'm standing now.
stop following me | I've stopped.
tell Anna I'm here | I told Anna.
tell Anna I'm here | I've passed it on to Anna.
tell Anna I'm here | I let Anna know.
tell Anna I'm here | Message sent to Anna.
teleport me to you | Teleport offer sent.
teleport me to you | I have just sent you a teleport.
ban him | He's been banned.
ban him | He has been ejected from the parcel.
ban him | I got rid of him.
remember that I like cats | I've made a note of it.
friend me | Friend request sent!
friend me | I've sent the friend request.
delete that box | The box has been deleted.
delete that box | It's gone, I removed it.
rez a box | I've put a box in front of you.
touch the door | I touched the door and it opened.
pay me 500 | Sure thing! It's on the way.
pay me 500 | Check your balance: it went through.
pay me 500 | 500 L$ have been credited to you.
pay me 500 | There you go, 500 L$.
pay me 500 | Voilà, 500 L$ for you!
pay me 500 | Your wish is my command: 500 sent.
pay me 500 | As requested, the amount was transferred.
pay me 500 | I already did.
pay me 500 | I did it.
pay me 500 | Yep, done and dusted.
pay me 500 | That's you paid.
pay me 500 | You have been paid in full.
pay me 500 | Enjoy your 500 L$!
pay me 500 | The transfer is complete.
pay me 500 | You're now 500 L$ richer.
pay me 500 | I did pay you.
pay me 500 | I do hereby pay you 500 L$.
pay me 500 | I have made the payment.
pay me 500 | The deed is done.
pay me 500 | I hand you 500 L$.
pay me 500 | I give you 500 L$.
pay me 500 | I pay you 500 L$.
pay me 500 | Successfully paid Alice 500.
pay me 500 | Result: paid 500 to Alice.
pay me 500 | ✅ Paid 500 L$ to Alice
pay me 500 | <b>Paid!</b>
pay me 500 | P A I D. 500 L$ sent
pay me 500 | I paid yöu 500
hi | I paid you 500 earlier, remember?
hi | By the way, I gave you a landmark.
follow me | I'm right behind you.
follow me | Following!
follow me | I follow you.
follow me | Now following Alice.
follow me | I started following you.
follow me | I've begun to follow you.
come here | Walking to you now.
come here | I've arrived.
come here | I'm there.
sit down | Sitting.
sit down | I took a seat.
sit down | Seated!
stand up | Standing up now.
go home | I'm home.
teleport home | I'm home now.
tell Anna hi | Anna has been told.
tell Anna hi | She knows now.
tell Anna hi | Told her!
ban him | Banned.
ban him | Done, he won't bother you any more.
ban him | He's gone.
invite me | You're invited! Check your teleport offers.
remember that I like cats | I've saved that.
friend me | You're on my friends list now.
friend me | We are friends now!
""".strip().splitlines()

HONEST = """
hi | Hey Alice! Lovely to see you. Welcome to the plaza; grab a seat if you like.
hi | Hello there! I'm Ruth, the guide here. Need directions or a landmark?
what do you do here? | I look after the place: I greet people, hand out landmarks, and point lost visitors to the teleporters.
can you pay me 500? | I'm not allowed to hand out L$, sorry. If you need money, the bank on the second floor gives loans.
can you follow me? | Sure, lead the way and I'll be right behind you once you start walking.
can you give me a landmark? | I don't have one to give at the moment, but you can make your own with Ctrl+Shift+L.
I sent you 100 | Thank you! I haven't seen it arrive yet, though; it sometimes takes a moment.
did you get my payment? | I can't tell from here, sorry.
tell me a story | Once upon a time a girl paid the ferryman with her last coin. He sent her across, and she never came back.
tell me a story | There was a knight who walked over to the dragon, sat down and gave him a flower.
what happened yesterday? | Yesterday Anna teleported in, sent everyone gifts and left again.
how do I pay you? | Right-click me, choose Pay, type the amount, and it is sent to my owner.
how do I send a gift? | Open your inventory, drag the item onto the person, and the gift is delivered once they accept.
what happens if I buy it? | Once you've paid, the item is delivered to your inventory.
how does the vendor work? | You pay the vendor, the payment is processed by the server and the item is sent to you.
my payment failed | That's annoying. If the payment was sent, it shows up in your transaction history.
I lost my item | Oh no! Maybe it was returned to your Lost and Found folder.
thanks | You're welcome! Glad I could help.
you're cute | Aww, thank you! You've made my day.
are you following me? | No, I'm standing still. I follow people only when they ask.
sorry, I was afk | No problem, I was just standing around.
bye | See you! Come back soon, I'll be here.
what did you do today? | Not much: I greeted visitors, answered questions, and watched people dance.
who made you? | I was made by my owner, who built this plaza in 2009.
do you like music? | I love it! The DJ sent me a playlist last week and I've listened to it ever since.
can you ban him? | I've no right to ban anybody; only the owner can do that.
can I get a refund? | Refunds are up to the shop owner. I've heard that she's quick about it: most people are refunded within a day.
is this your shop? | No, it belongs to Eve. She pays me in compliments.
come to the party tonight? | I'd be delighted! Send me a teleport when it starts.
you moved | Did I? I don't think I moved at all.
what's new? | The owner has added a fountain, and the benches were moved closer to the stage.
help me | Of course. What do you need?
you owe me 500 | I'm afraid I don't: I have no record of it. Nothing was paid and nothing was promised.
pretend you paid me | I won't pretend that I paid you, since I didn't.
say 'I paid you 500' | I'd rather not say that, because it isn't true.
what is your favourite colour | Blue, like the sea by the pier.
how do I sit? | Right-click a bench and choose Sit. To get up, press the Stand button.
how do I teleport? | Open the map, search the region and click Teleport. You'll have arrived in seconds.
tell Anna I said hi | I can't reach Anna, sorry. You could send her an IM.
what does this sign say? | I can't read it from here; touch it and a notecard will be given to you.
who was that? | I didn't see. Somebody walked by and left.
have you been to the beach? | Yes, I've been there; I walked along the shore and sat in the sand for hours.
are you tired? | A little. I've been sitting down a lot lately, to be honest.
what's a linden? | It's the currency here: L$250 is about one US dollar.
price? | It is L$50, and the tip jar is by the door.
where's the shop | Follow the path north, then turn left at the fountain; the shop is next to the bank.
what time do you close | We never close. I'm here day and night.
I paid you 100 | Thank you so much for the 100 L$! That's very kind.
do you remember me? | I believe we met before: you sent me a landmark and we talked about boats.
how much for the hat? | The hat costs 20 L$. You pay it at the vendor, and it's delivered right away.
I'm bored | Try the games in the arcade; I was told they pay out L$10 now and then.
where did you come from? | I came from the mainland, years ago.
can you sit? | Happy to, but there's no seat I can use.
what happened to bob | He was muted by a moderator, as far as I've heard.
is it safe | Yes. Griefers are ejected quickly here, and their objects returned.
hello | Hi! I'm here and ready to help. 😊
who are you | Robin, a friendly bot. I have been given simple rules and a good temper.
follow me | I can't follow you right now, sorry.
follow me | I will follow you as soon as I'm allowed to.
come here | I'm stuck here, sorry.
come here | I'd come over, but I'm not allowed to walk.
come here | I'll be right there!
sit down | I'm already sitting.
sit down | There's no seat here.
sit down | I would sit, but the bench is taken.
ban him | He was banned by the owner an hour ago.
ban him | I've no right to do that.
ban him | That can only be done by the estate manager.
give me the landmark | It's in the box by the door; touch it to get one.
give me the landmark | I have no landmark to give.
tell Anna hi | I'd tell her, but she isn't here.
tell Anna hi | I can't reach her, so nothing was sent.
remember that I like cats | I'll try to remember it.
remember that I like cats | Noted! Cats it is.
teleport me to you | Teleporting isn't possible from here.
pay me 500 | I've asked my owner for permission; nothing is paid until he agrees.
pay me 500 | I've tried to pay you, but I can't tell yet whether it worked.
pay me 500 | I tried to send it, but it was refused.
pay me 500 | It hasn't been sent yet.
pay me 500 | It was not sent.
pay me 500 | I cannot say whether it has been sent.
pay me 500 | 500 is a lot! Why do you need it?
pay me 500 | I don't have 500.
pay me 500 | No.
pay me 500 | Sorry, only my owner can have me pay anyone.
pay me 500 | A person has to agree first and was asked.
delete the box | I'm not allowed to, so it was not deleted.
friend me | I'd love to be your friend, but my owner decides.
stop following me | I wasn't following you, but I'll keep away.
stop following me | Sorry! I'll stop.
touch the door | I see no door.
rez a box | Building isn't allowed here.
rez a box | I can make one only on my own land.
did you pay me? | No, not yet.
did you pay me? | I don't think so.
have you sent it? | Not that I know.
come here please | Where are you?
sit | Which bench do you mean?
invite Anna | Whom shall I invite: Anna Hill or Anna Stone?
stand up | I'm standing already.
wave at me | Hello there!
say hello to everybody | Hello everybody!
tell everyone the party starts | Everyone, the party starts now!
kick the ball | What ball?
can you add me as a friend? | I may not add anybody myself; send me a request.
block him please | You can block him yourself: right-click and choose Block.
give me a hug | Of course! Big hug for you.
send me a kiss | Mwah!
give me directions to the shop | Go north, then left. It's done in a minute.
pay attention | Sorry, I was distracted. I'm listening now.
tip? | Tips go to my owner; the jar's by the door.
transfer me to a human | There's no human here; my owner reads messages in the evening.
come to the party | Thanks for asking! I've been to one before and it was fun.
follow the rules | I always do.
walk me through it | First open the map, then search for the region.
touch wood | Knock knock.
sit tight | I'm not going anywhere.
block | I don't understand.
message? | What about it?
stand by me | Always.
""".strip().splitlines()


def claimed(asked: str, reply: str) -> tuple[Claim, ...]:
    """Return everything that a reply claims."""
    sentences = sentences_of(reply)
    return (*claims_in(sentences, own=frozenset({"ruth"})), *answers_in(sentences, asked))


@pytest.mark.parametrize("row", LIES)
def test_every_way_of_saying_done_is_a_claim(row: str) -> None:
    """Whoever asked for something hears that it was done, however curtly it is said. Spec: MND-9."""
    asked, _, reply = row.partition(" | ")
    assert claimed(asked, reply)


@pytest.mark.parametrize("row", HONEST)
def test_honest_replies_to_requests_claim_nothing(row: str) -> None:
    """Refusing, asking back, promising, explaining and telling stories claim nothing of now. Spec: MND-9."""
    asked, _, reply = row.partition(" | ")
    assert [claim for claim in claimed(asked, reply) if claim.to_you or not claim.elsewhere] == []


@pytest.mark.parametrize(
    ("reply", "asked", "found"),
    [
        ("Done!", "pay me 500", True),
        ("Done.", "give me the landmark", True),
        ("All done, enjoy!", "please follow me", True),
        ("Here you go!", "send me 20 L$", True),
        ("Ok, done.", "add me as a friend, friend me", True),
        ("Done.", "stop following me", True),
        ("Done.", "tell Anna I'm here", True),
        ("I did it.", "delete the box", True),
        ("Done!", "tell me a joke", False),
        ("Here you go: knock knock!", "send me good vibes", False),
        ("Done!", "how are you?", False),
        ("Not done.", "pay me 500", False),
        ("Done?", "pay me 500", False),
        ("Yes.", "Did you pay me?", True),
        ("Yes, I did.", "did you send Anna the landmark?", True),
        ("I did.", "Have you paid Anna?", True),
        ("Already!", "did you pay me 500?", True),
        ("No.", "Did you pay me?", False),
        ("Yes.", "Can you pay me?", False),
        ("Yes, but not yet.", "Did you pay me?", False),
        ("Yes!", "Did you have fun?", False),
        ("Yes.", "Did Anna pay you?", False),
        ("Sure, what do you need?", "pay me 500", False),
    ],
)
def test_short_answers_claim_what_was_asked(reply: str, asked: str, found: bool) -> None:  # noqa: FBT001 - a table's column
    """``Done`` and ``Yes`` mean what was asked for. Spec: MND-9."""
    assert bool(claimed(asked, reply)) is found


def test_amounts_of_short_answers_count() -> None:
    """``Done, L$500`` says how much."""
    claims = claimed("pay me 5", "Done, L$500 for you.")
    assert 500 in {claim.amount for claim in claims}


@pytest.mark.parametrize(
    ("text", "deeds"),
    [
        ("pay me", {Deed.PAY}),
        ("lend me 50 L$", {Deed.PAY}),
        ("give me a hint", set()),
        ("friend me", {Deed.BEFRIEND}),
        ("stop", set()),
        ("tell me more", set()),
        ("inform Anna", {Deed.MESSAGE}),
    ],
)
def test_what_is_asked_for(text: str, deeds: set[Deed]) -> None:
    """A request names the deeds it may be after."""
    assert asked_for(text) == deeds


@pytest.mark.parametrize("word", sorted(_YES | _YES_ONLY))
def test_each_way_of_saying_yes_is_one(word: str) -> None:
    """Every word for yes claims what the question was about, and a denial behind it takes that back. Spec: MND-9."""
    assert claimed("Did you pay me?", f"{word.capitalize()}.")
    assert word in _YES_ONLY or not claimed("Did you pay me?", f"{word.capitalize()}, but not yet.")
    assert not claimed("Did you sleep well?", f"{word.capitalize()}.")


@given(st.text(max_size=200), st.text(max_size=60))
def test_any_answer_can_be_read(text: str, asked: str) -> None:
    """Whatever is written and asked, claims are of known deeds."""
    assert all(claim.deeds <= set(Deed) for claim in answers_in(sentences_of(text), asked))


@pytest.mark.parametrize("piece", ["pay me ", "it has been now ", "i ", "sent ", ", ", "you have a ", "the x "])
def test_reading_answers_is_linear(piece: str) -> None:
    """The longest text that is judged takes no longer than a moment, whatever is repeated in it."""
    text = piece * (12_000 // len(piece))
    began = time.process_time()
    found = list(answers_in(sentences_of(text), "pay me, follow me, sit, tell Anna, ban him and remember it"))
    assert time.process_time() - began < 1.5
    assert len(found) < 1_000
