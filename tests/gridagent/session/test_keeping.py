"""Claims about keeping nothing."""

from gridagent.session.keeping import NoKeeper


async def test_without_a_store_nothing_is_asked_of_anybody():
    """Spec: EFX-2 — keeping nothing is a keeper too: it lets everything through and promises nothing it cannot."""
    keeper = NoKeeper()
    assert not keeper.keeps
    assert await keeper.sending("e", 0.0) is None
    assert await keeper.durable()
