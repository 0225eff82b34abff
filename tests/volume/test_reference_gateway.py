"""A hundred thousand random histories, each lived by the gateway and by its reference, compared step by step.

Every answer, everything that ended, every audit row and the status at the end must be equal. One in eight of them is
lived under very low ceilings, so that pools, books and the ledger are full most of the time. Half of the gateways
give out changes; of those a restart is often a crash, and what the changes come to must be what the reference,
which only forgets what a crash forgets, goes on with.

About 80 s on one core.
"""

from __future__ import annotations

import time
from collections import Counter

import pytest

from tests.gridagent.policy.twins import Twins, cramp, policies

HISTORIES = 88_000
CRAMPED_HISTORIES = 12_000
SECONDS_MAX = 120.0

EXPECTED = """
authorized|needs_approval|settled|not settled|replaced|restarted|crashed|hold|release|enter_safe_mode|leave_safe_mode
denied unknown_action|denied invalid_arguments|denied held|denied safe_mode|denied not_ready|denied stale_generation
denied origin_may_not|denied role_too_low|denied tainted|denied target_not_authorised|denied pattern_denied
denied grant_refused|denied grant_spent|denied duplicate|denied resource_busy|denied budget_spent
denied approval_denied|denied approval_expired|denied approval_cancelled
answer allowed|answer denied|answer refused|answer not_now|answer unknown|answer wrong_person|answer wrong_nonce
answer already_answered|answer expired|answer cancelled|answer superseded
redeem done|redeem forged|redeem unknown|redeem replayed|redeem expired|redeem stale_generation|redeem held
redeem safe_mode|redeem cancelled|redeem superseded|redeem dry_run|redeem settled|intend done
grant given|grant denied|grant revoked|grant ended|grant unknown|grant wrong_person
ended effect expired|ended effect cancelled|ended effect held|ended effect safe_mode|ended effect stale_generation
ended effect not_sent|ended effect crashed|ended approval expired|ended approval cancelled|ended approval superseded
ended grant expired|ended grant superseded
"""
EXPECTED_CRAMPED = "denied ledger_full|denied approvals_full|denied budget_unavailable|grant full|answer nonce_locked"


def live(seeds, pool, *, steps, cramped) -> Counter:
    """Live one history a seed and count what happened; the first disagreement is told with its whole story."""
    seen: Counter = Counter()
    for number in seeds:
        name = f"{'cramped' if cramped else 'history'}-{number}"
        Twins(name, pool, cramped=cramped, seen=seen).run(steps(number))
    return seen


@pytest.mark.volume
@pytest.mark.timeout(600)
def test_a_hundred_thousand_histories_without_a_disagreement(monkeypatch, record_testsuite_property) -> None:
    """Both gateways agree on everything, and everything happens. Spec: POL-13, POL-2, POL-8, EFX-2. Fault: 27."""
    pool = policies(48)
    began = time.process_time()
    seen = live(range(HISTORIES), pool, steps=lambda number: 3 + number % 6, cramped=False)
    cramp(monkeypatch)
    full = live(range(CRAMPED_HISTORIES), pool, steps=lambda number: 8 + number % 12, cramped=True)
    took = time.process_time() - began
    for what, times in sorted((seen + full).items()):
        record_testsuite_property(f"twins: {what}", times)
    record_testsuite_property("twins: seconds", took)
    wanted = [name for line in EXPECTED.strip().splitlines() for name in line.split("|")]
    assert not [name for name in wanted if not seen[name]]
    assert not [name for name in EXPECTED_CRAMPED.split("|") if not full[name]]
    assert took < SECONDS_MAX
