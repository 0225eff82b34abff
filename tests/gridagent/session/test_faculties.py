"""Claims about what answers errands."""

from gridagent.mind import ErrandFailed
from gridagent.session.faculties import NoFaculties


async def test_without_faculties_every_errand_is_refused():
    """Spec: MND-18 — an avatar without a model and look-ups answers no errand, and says so as a value."""
    assert await NoFaculties().perform("anything", None) == ErrandFailed(code="refused")
