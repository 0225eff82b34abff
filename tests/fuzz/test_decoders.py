"""The corpus and the seeds of the fuzz campaigns, read again in every run."""

from __future__ import annotations

import pytest

from live_grid.errors import RemoteProtocolError
from tests.fuzz.decoders import CORPUS, DECODERS, INPUT_MAX, corpus, feed
from tests.fuzz.seeds import SEEDS, seeds


@pytest.mark.parametrize("name", DECODERS)
def test_what_the_campaigns_found_is_read_or_refused(name: str) -> None:
    """Every kept input gives a value or the one error. Spec: LIV-3. Fault: 5, 12, 13."""
    kept = corpus(name)
    assert kept
    for file in kept:
        data = file.read_bytes()
        assert len(data) <= INPUT_MAX
        feed(name, data)


@pytest.mark.slow
@pytest.mark.parametrize("name", DECODERS)
def test_recordings_reach_every_decoder(name: str) -> None:
    """A campaign starts from seeds, some of which are read. Spec: LIV-3."""
    read = 0
    for data in seeds(name):
        try:
            DECODERS[name](data)
            read += 1
        except RemoteProtocolError:
            pass
    assert read


def test_each_decoder_has_seeds_and_a_corpus_and_nothing_else_has() -> None:
    """The two tables and the folders name the same."""
    assert set(SEEDS) == set(DECODERS) == {folder.name for folder in CORPUS.iterdir()}


def test_a_finding_gets_through() -> None:
    """What a decoder may not raise is not swallowed."""
    with pytest.raises(TypeError):
        feed("packet", None)  # type: ignore[arg-type]
