"""Reading a file without being led anywhere else: each trap has its own sentence (Fault: 40)."""

from __future__ import annotations

import os
import socket
import stat
import struct
from pathlib import Path

import pytest

from gridagent.config import acl, files
from gridagent.config.files import FileContent, absolute_path, open_for_append, platform_gaps, read_file, shown_path
from gridagent.errors import ConfigError

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="giving a file away takes root")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A private file with a canary in it."""
    path = tmp_path / "password"
    path.write_bytes(b"canary-secret\n")
    path.chmod(0o600)
    return path


def _refusal(path: Path, *, holds_secret: bool = False, max_bytes: int = 64) -> str:
    with pytest.raises(ConfigError) as caught:
        read_file(path, max_bytes=max_bytes, holds_secret=holds_secret, where="$.here")
    (problem,) = caught.value.problems
    assert problem.path == "$.here"
    assert problem.mend
    assert "canary" not in str(caught.value)
    return str(problem)


def _open_descriptors() -> int:
    table = Path("/proc/self/fd")
    return len(list(table.iterdir())) if table.exists() else 0


def test_a_private_regular_file_is_read(secret: Path) -> None:
    """The content comes back, with whether it is private. Spec: CFG-2."""
    content = read_file(secret, max_bytes=64, holds_secret=True, where="$")
    assert content == FileContent(data=b"canary-secret\n", private=True)
    assert "canary" not in repr(content)


ACCESS = [(1, 4, 0xFFFF_FFFF), (4, 0, 0xFFFF_FFFF), (16, 4, 0xFFFF_FFFF), (32, 0, 0xFFFF_FFFF)]


def _access_list(user: int) -> bytes:
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in [*ACCESS, (2, 4, user)])


def test_a_secret_that_a_list_lends_to_this_user_is_read(secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A credential of systemd looks as if a group could read it, and no group can. Spec: CFG-2."""
    secret.chmod(0o440)
    monkeypatch.setattr(os, "getxattr", lambda *_: _access_list(os.geteuid()), raising=False)
    assert read_file(secret, max_bytes=64, holds_secret=True, where="$").private
    monkeypatch.setattr(os, "getxattr", lambda *_: _access_list(os.geteuid() + 1))
    assert "others may read" in _refusal(secret, holds_secret=True)
    for mode in (0o444, 0o460, 0o450):
        monkeypatch.setattr(os, "getxattr", lambda *_: _access_list(os.geteuid()))
        secret.chmod(mode)
        assert "others may read" in _refusal(secret, holds_secret=True)


def test_a_list_of_this_machines_own_kernel_reads_the_same(secret: Path) -> None:
    """Not only in bytes of ours. Spec: CFG-2."""
    secret.chmod(0o400)
    entries = sorted([*ACCESS, (2, 4, os.geteuid())])  # the kernel wants them in order
    data = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    try:
        os.setxattr(secret, acl.ATTRIBUTE, data)
    except (AttributeError, OSError):
        pytest.skip("no access lists here")
    assert stat.S_IMODE(secret.stat().st_mode) == 0o440
    assert read_file(secret, max_bytes=64, holds_secret=True, where="$").private


def test_where_there_are_no_lists_the_bits_mean_what_they_say(secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No list on the file, or a platform without any. Spec: CFG-2."""
    secret.chmod(0o440)
    assert "others may read" in _refusal(secret, holds_secret=True)
    monkeypatch.delattr(os, "getxattr", raising=False)
    assert "others may read" in _refusal(secret, holds_secret=True)


def test_a_file_others_may_read_is_no_secret_but_can_be_read(secret: Path) -> None:
    """Configuration without secrets may be public, and says so. Spec: CFG-2."""
    secret.chmod(0o644)
    assert not read_file(secret, max_bytes=64, holds_secret=False, where="$").private


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o777])
def test_a_secret_on_which_others_have_a_permission_is_refused(secret: Path, mode: int) -> None:
    """Any permission of group or world is one too many. Spec: CFG-2. Fault: 40."""
    secret.chmod(mode)
    refusal = _refusal(secret, holds_secret=True)
    assert "others may read or change this secret" in refusal
    assert f"mode {mode:03o}" in refusal


def test_a_file_that_anybody_may_change_is_refused(secret: Path) -> None:
    """A configuration that strangers write is a stranger's configuration. Spec: CFG-2."""
    secret.chmod(0o646)
    assert "anybody may change this file" in _refusal(secret)


def test_a_link_is_refused_as_file_and_as_directory(secret: Path, tmp_path: Path) -> None:
    """No component of the path may be a link, not only the last. Spec: CFG-2. Fault: 40."""
    (tmp_path / "link").symlink_to(secret)
    assert "'link' of the file's path is a symbolic link" in _refusal(tmp_path / "link")
    (tmp_path / "away").symlink_to(tmp_path)
    assert "'away' of the file's path is a symbolic link" in _refusal(tmp_path / "away" / "password")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    assert "is a symbolic link" in _refusal(tmp_path / "dangling")


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    """Opening a named pipe without a writer must not hang. Fault: 40."""
    os.mkfifo(tmp_path / "pipe", 0o600)
    assert "not a regular file (found a named pipe)" in _refusal(tmp_path / "pipe")


def test_what_is_no_regular_file_is_told_by_kind(tmp_path: Path) -> None:
    """Directory, device and socket. Fault: 40."""
    assert "found a directory" in _refusal(tmp_path)
    assert "found a character device" in _refusal(Path("/dev/zero"))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        assert "is a socket or device" in _refusal(tmp_path / "socket")


@pytest.mark.parametrize(
    ("mode", "kind"),
    [(stat.S_IFBLK, "a block device"), (stat.S_IFSOCK, "a special file")],
)
def test_rare_kinds_have_a_name(mode: int, kind: str) -> None:
    """Kinds that a test cannot make everywhere."""
    assert files._kind(mode) == kind


def test_a_hard_link_is_refused(secret: Path, tmp_path: Path) -> None:
    """Another name may lie where others can reach it. Fault: 40."""
    os.link(secret, tmp_path / "second")
    assert "other names (hard links) (found 2 links)" in _refusal(secret)


@AS_ROOT
def test_a_file_of_another_user_is_refused(secret: Path) -> None:
    """Only this user's and root's files are read. Fault: 40."""
    os.chown(secret, 12_345, -1)
    assert "belongs to another user (found owner 12345)" in _refusal(secret)


def test_a_file_of_root_is_read_by_anybody(secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An administrator may install a configuration for a service's user."""
    monkeypatch.setattr(os, "geteuid", lambda: 4_321)
    if secret.stat().st_uid == 0:
        assert read_file(secret, max_bytes=64, holds_secret=True, where="$").private
    else:
        assert "belongs to another user" in _refusal(secret)


def test_a_file_that_is_too_large_is_refused_before_it_is_read(secret: Path) -> None:
    """The size is known from the descriptor. Spec: BND-15."""
    secret.write_bytes(b"canary" * 20)
    assert "larger than 64 bytes (found 120 bytes)" in _refusal(secret)


@pytest.mark.parametrize(
    ("growth", "phrase"),
    [(b"x" * 10, "changed while it was being read"), (b"x" * 10_000, "larger than 64 bytes (found more than that)")],
)
def test_a_file_that_grows_while_it_is_read_is_refused(
    secret: Path, monkeypatch: pytest.MonkeyPatch, growth: bytes, phrase: str
) -> None:
    """The cap holds while reading, whatever the size was at first. Spec: CFG-2, BND-15. Fault: 40."""
    real = os.read
    sizes = []

    def grow(descriptor: int, size: int) -> bytes:
        if not sizes:
            with secret.open("ab") as out:
                out.write(growth)
        sizes.append(size)
        return real(descriptor, size)

    monkeypatch.setattr(os, "read", grow)
    assert phrase in _refusal(secret)
    assert sum(sizes) <= 2 * 65


def test_a_file_that_is_rewritten_in_place_while_it_is_read_is_refused(
    secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Same size, other content: half of each must not be taken for one. Fault: 40."""
    real = os.read

    def rewrite(descriptor: int, size: int) -> bytes:
        chunk = real(descriptor, size)
        os.utime(secret, ns=(1, 1))
        return chunk

    monkeypatch.setattr(os, "read", rewrite)
    assert "changed while it was being read" in _refusal(secret)


def test_a_file_swapped_after_it_was_opened_makes_no_difference(secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks and reading share one descriptor: there is no gap between them. Spec: CFG-2. Fault: 40."""
    real = os.fstat

    def swap(descriptor: int) -> os.stat_result:
        status = real(descriptor)
        if stat.S_ISREG(status.st_mode) and secret.exists():
            held = secret.with_name("held")
            secret.rename(held)
            secret.symlink_to("/dev/zero")
            secret.unlink()
        return status

    monkeypatch.setattr(os, "fstat", swap)
    assert read_file(secret, max_bytes=64, holds_secret=True, where="$").data == b"canary-secret\n"


def test_the_path_of_a_secret_is_not_quoted(tmp_path: Path) -> None:
    """Somebody may have written the secret itself where its file should be named. Spec: CFG-3. Fault: 42."""
    for path in (tmp_path / "canary-password", tmp_path / "canary" / "password", tmp_path / ("canary" * 50)):
        refusal = _refusal(path, holds_secret=True)
        assert "of the file's path does not exist" in refusal or "is too long" in refusal
    place = len(tmp_path.parts)
    assert f"part {place} of the file's path does not exist" in _refusal(
        tmp_path / "canary-password", holds_secret=True
    )


def test_paths_that_lead_nowhere_say_where_they_end(secret: Path, tmp_path: Path) -> None:
    """The missing or wrong part is named."""
    assert "'none' of the file's path does not exist" in _refusal(tmp_path / "none" / "password")
    assert "'password' of the file's path is not a directory" in _refusal(secret / "inside")
    assert "a name in the file's path is too long" in _refusal(tmp_path / ("x" * 300))
    assert "encoding" in _refusal(tmp_path / "\ud800")
    assert "not a full path" in _refusal(Path("relative"))
    assert "not a full path" in _refusal(tmp_path / "nul\0byte")
    assert "found a directory" in _refusal(Path("/"))


@pytest.mark.parametrize(
    ("code", "phrase"),
    [
        (13, "may not be opened by this user"),
        (5, "the file cannot be read (EIO)"),
        (0, "the file cannot be read (unknown)"),
    ],
)
def test_failures_of_the_system_have_a_sentence(
    secret: Path, monkeypatch: pytest.MonkeyPatch, code: int, phrase: str
) -> None:
    """A permission or a sick disk is told as such."""
    real = os.open

    def fail(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == "password":
            raise OSError(code, "canary")
        return real(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", fail)
    monkeypatch.setattr(os, "supports_dir_fd", {fail})
    assert phrase in _refusal(secret)


def test_a_disk_that_fails_while_reading_has_a_sentence(secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The descriptor is closed, and the error names the code."""

    def fail(descriptor: int, size: int) -> bytes:
        raise OSError(5, "canary")

    monkeypatch.setattr(os, "read", fail)
    before = _open_descriptors()
    assert "the file cannot be read (EIO)" in _refusal(secret)
    assert _open_descriptors() == before


def test_no_descriptor_is_left_open(secret: Path, tmp_path: Path) -> None:
    """Neither success nor any refusal leaks one."""
    before = _open_descriptors()
    read_file(secret, max_bytes=64, holds_secret=True, where="$")
    for path in (tmp_path, tmp_path / "none", secret / "inside"):
        _refusal(path)
    assert _open_descriptors() == before


def test_a_platform_without_the_flags_is_told_clearly(secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where files cannot be opened safely they are not opened at all. Spec: OPS-7, CFG-2."""
    assert platform_gaps() == ()
    monkeypatch.delattr(os, "O_NOFOLLOW")
    monkeypatch.delattr(os, "geteuid")
    monkeypatch.setattr(os, "supports_dir_fd", frozenset())
    assert platform_gaps() == ("O_NOFOLLOW", "open relative to a directory", "file owners")
    assert "cannot open files safely: it lacks O_NOFOLLOW" in _refusal(secret)


@pytest.mark.parametrize(
    ("text", "environ", "path"),
    [
        ("/etc/x", {}, "/etc/x"),
        ("x", {}, "/base/x"),
        ("./a/../x", {}, "/base/x"),
        ("../x", {}, "/x"),
        ("~/x", {"HOME": "/users/me"}, "/users/me/x"),
        ("~/x", {"USERPROFILE": "/users/me"}, "/users/me/x"),
        ("~/x", {"HOME": ""}, None),
        ("~other/x", {"HOME": "/users/me"}, None),
        ("~", {"HOME": "/users/me"}, None),
    ],
)
def test_paths_are_made_absolute_without_looking(text: str, environ: dict[str, str], path: str | None) -> None:
    """Relative to a base, or below the home directory of the given environment. Spec: CFG-4."""
    found = absolute_path(text, base=Path("/base"), environ=environ)
    assert found == (None if path is None else Path(path))


def test_a_path_is_shown_on_one_short_line() -> None:
    """Control characters and length are taken out of messages."""
    assert shown_path(Path("/a\nb\x1b[31m")) == "/a?b?[31m"
    assert len(shown_path(Path("/" + "x" * 400))) == 256


def test_a_log_file_is_made_private_and_appended_to(tmp_path: Path) -> None:
    """Nobody else reads the log, and what was there stays. Spec: CFG-2."""
    path = tmp_path / "log"
    for line in ("one\n", "two\n"):
        with open_for_append(path, where="$.paths.log_file") as out:
            out.write(line)
    assert path.read_text() == "one\ntwo\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_log_file_is_not_led_elsewhere(tmp_path: Path, secret: Path) -> None:
    """Links, pipes and second names are refused for writing too. Fault: 40."""
    (tmp_path / "link").symlink_to(secret)
    os.mkfifo(tmp_path / "pipe", 0o600)
    os.link(secret, tmp_path / "second")
    for name, phrase in (("link", "symbolic link"), ("pipe", "socket or device"), ("second", "hard links")):
        with pytest.raises(ConfigError, match=phrase) as caught:
            open_for_append(tmp_path / name, where="$.paths.log_file")
        assert caught.value.problems[0].path == "$.paths.log_file"
    assert secret.read_bytes() == b"canary-secret\n"
