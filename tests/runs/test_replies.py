from __future__ import annotations

import dataclasses
from io import FileIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overread.columns import rows_of
from overread.errors import BadRun
from overread.runs import replies as replies_module
from overread.runs.replies import ReplyReader, ReplyWriter, parse_lines, receipts_of, replies_of, reply_files
from overread.tables import Evidence, Receipt, Reply

RECEIPT = Receipt("r", "tensor", "x://y", "signal", (0, 10), (12, 10), "hash")


def reply(n: int, **changes: object) -> Reply:
    base = Reply(f"id{n}", f"q{n}", n, "m", "x", 0, 0, "p", "answered", choice=(0,), receipts=("r",))
    return dataclasses.replace(base, **changes)  # type: ignore[arg-type]


def ids(folder: Path, start: int = 0, stop: int = 1000) -> list[str]:
    reader = ReplyReader(folder)
    reader.refresh()
    return sorted(reader.between(start, stop)["id"])


def killed(writer: ReplyWriter) -> ReplyWriter:
    """What is left of a worker that was killed: its lines."""
    writer._file.close()
    return writer


def lines_of(folder: Path) -> Path:
    (path,) = (folder / "replies").glob("*.jsonl")
    return path


def test_replies_are_lines_while_written_and_a_part_afterwards(tmp_path: Path) -> None:
    with ReplyWriter(tmp_path, "w") as writer:
        writer.add([reply(2), reply(1)], [RECEIPT, RECEIPT])
        assert lines_of(tmp_path).read_bytes().count(b"\n") == 3
        assert ids(tmp_path) == ["id1", "id2"]
    assert [path.name for path in (tmp_path / "replies").iterdir()] == ["w-00000.parquet"]
    assert ids(tmp_path) == ["id1", "id2"]
    assert receipts_of(tmp_path)["id"].to_list() == ["r"]


def test_a_long_run_is_cut_into_parts(tmp_path: Path) -> None:
    with ReplyWriter(tmp_path, "w", lines_a_file=2) as writer:
        for n in range(5):
            writer.add([reply(n)], [RECEIPT])
    assert len(list((tmp_path / "replies").glob("*.parquet"))) == 3
    assert ids(tmp_path) == [f"id{n}" for n in range(5)]
    assert ids(tmp_path, 1, 3) == ["id1", "id2"]


def test_a_worker_that_asked_nothing_leaves_nothing(tmp_path: Path) -> None:
    with ReplyWriter(tmp_path, "w"):
        pass
    assert list((tmp_path / "replies").iterdir()) == []


def test_what_a_killed_worker_wrote_is_read_and_its_torn_line_is_passed_over(tmp_path: Path) -> None:
    writer = ReplyWriter(tmp_path, "w")
    writer.add([reply(1), reply(2)], [RECEIPT])
    path = lines_of(tmp_path)
    killed(writer)
    path.write_bytes(path.read_bytes()[:-20])
    assert ids(tmp_path) == ["id1"]


@given(cut=st.integers(0, 10_000))
def test_a_file_cut_anywhere_still_gives_whole_replies(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    folder = tmp_path_factory.mktemp("cut")
    writer = ReplyWriter(folder, "w")
    writer.add([reply(n) for n in range(4)], [RECEIPT])
    killed(writer)
    path = lines_of(folder)
    data = path.read_bytes()
    path.write_bytes(data[: cut % (len(data) + 1)])
    found = ids(folder)
    assert found == [f"id{n}" for n in range(len(found))]


def test_a_block_of_zeros_left_by_a_crash_is_passed_over(tmp_path: Path) -> None:
    writer = ReplyWriter(tmp_path, "w")
    writer.add([reply(1)], [])
    killed(writer)
    with lines_of(tmp_path).open("ab") as file:
        file.write(b"\0" * 512 + b"\n")
    assert ids(tmp_path) == ["id1"]


def test_a_damaged_line_in_the_middle_is_named_and_nothing_is_lost(tmp_path: Path) -> None:
    writer = ReplyWriter(tmp_path, "w")
    writer.add([reply(1), reply(2)], [])
    killed(writer)
    path = lines_of(tmp_path)
    path.write_bytes(b"{broken\n" + path.read_bytes())
    with pytest.raises(BadRun, match="line 1 is not a reply") as error:
        ids(tmp_path)
    assert str(path) in str(error.value)
    assert path.exists()


def test_a_reply_that_lies_in_two_files_counts_once(tmp_path: Path) -> None:
    with ReplyWriter(tmp_path, "w") as writer:
        writer.add([reply(1)], [])
        left = lines_of(tmp_path).read_bytes()
    (tmp_path / "replies" / "w-00000.jsonl").write_bytes(left)
    assert ids(tmp_path) == ["id1"]


def test_refresh_takes_up_what_others_wrote_since(tmp_path: Path) -> None:
    reader, writer = ReplyReader(tmp_path), ReplyWriter(tmp_path, "w")
    writer.add([reply(1)], [])
    assert [frame["id"].to_list() for frame in reader.refresh()] == [["id1"]]
    writer.add([reply(2)], [])
    assert [frame["id"].to_list() for frame in reader.refresh()] == [["id2"]]
    writer.__exit__(None, None, None)
    reader.refresh()
    assert sorted(reader.between(0, 9)["id"]) == ["id1", "id2"]


def test_a_truncated_part_is_named_and_left_where_it_is(tmp_path: Path) -> None:
    with ReplyWriter(tmp_path, "w") as writer:
        writer.add([reply(1)], [])
    (part,) = (tmp_path / "replies").glob("*.parquet")
    part.write_bytes(part.read_bytes()[:100])
    with pytest.raises(BadRun, match="damaged") as error:
        ids(tmp_path)
    assert str(part) in str(error.value) and "give the command of the run again" in str(error.value)


def test_a_part_of_a_newer_version_asks_for_an_upgrade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ReplyWriter(tmp_path, "w") as writer:
        writer.add([reply(1)], [])
        monkeypatch.setattr("overread.runs.parts.SCHEMA_VERSION", 99)
    monkeypatch.setattr("overread.runs.parts.SCHEMA_VERSION", 1)
    with pytest.raises(BadRun, match="newer overread"):
        ids(tmp_path)


def test_a_full_disk_is_said_and_what_was_written_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        closed = False

        def __init__(self, file: FileIO) -> None:
            self.file = file

        def write(self, data: bytes) -> int:
            raise OSError(28, "No space left on device")

        def close(self) -> None:
            self.closed = True
            self.file.close()

    with pytest.raises(BadRun, match="No space left"), ReplyWriter(tmp_path, "w") as writer:
        writer.add([reply(1)], [])
        monkeypatch.setattr(writer, "_file", Full(writer._file))
        writer.add([reply(2)], [])
    assert ids(tmp_path) == ["id1"]


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "replies").write_text("a file in the way")
    with pytest.raises(BadRun, match="cannot write"):
        ReplyWriter(tmp_path, "w")


def test_two_workers_of_one_name_do_not_write_into_one_file(tmp_path: Path) -> None:
    killed(ReplyWriter(tmp_path, "w"))
    with pytest.raises(BadRun, match="cannot write"):
        ReplyWriter(tmp_path, "w")


def test_lines_are_synced_every_few_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(replies_module.os, "fsync", synced.append)
    monkeypatch.setattr(replies_module, "SYNC_SECONDS", 0.0)
    writer = ReplyWriter(tmp_path, "w")
    writer.add([reply(1)], [])
    killed(writer)
    assert len(synced) == 1


def test_a_file_that_was_compacted_meanwhile_is_no_error(tmp_path: Path) -> None:
    found, receipts, offset = parse_lines(tmp_path / "gone.jsonl", 7)
    assert (found.height, receipts.height, offset) == (0, 0, 7)


def test_evidence_is_kept_in_lines_and_in_parts(tmp_path: Path) -> None:
    read = Evidence("wide_qrs", "V1", 100, 160)
    told = dataclasses.replace(RECEIPT, evidence=(read, dataclasses.replace(read, part="")))
    plain = dataclasses.replace(RECEIPT, id="r2")
    with ReplyWriter(tmp_path, "w") as writer:
        writer.add([reply(1)], [told, plain])
        assert list(rows_of(receipts_of(tmp_path), Receipt)) == [told, plain]
    assert list(rows_of(receipts_of(tmp_path), Receipt)) == [told, plain]


def test_all_replies_of_a_run_include_the_lines_of_killed_workers(tmp_path: Path) -> None:
    with ReplyWriter(tmp_path, "whole") as writer:
        writer.add([reply(2)], [RECEIPT])
    lost = ReplyWriter(tmp_path, "lost")
    lost.add([reply(1)], [RECEIPT])
    killed(lost)
    assert replies_of(tmp_path)["id"].to_list() == ["id1", "id2"]
    assert receipts_of(tmp_path).height == 1


def test_replies_whose_receipts_were_lost_do_not_count_and_those_without_any_do(tmp_path: Path) -> None:
    with ReplyWriter(tmp_path, "w") as writer:
        writer.add([reply(1), reply(2, receipts=())], [RECEIPT])
    assert ids(tmp_path) == ["id1", "id2"]
    (tmp_path / "receipts" / "w-00000.parquet").unlink()
    assert ids(tmp_path) == ["id2"]


def test_what_becomes_a_part_while_files_are_read_is_neither_missed_nor_read_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = ReplyWriter(tmp_path, "w")
    writer.add([reply(1)], [RECEIPT])
    real = replies_module.parse_lines

    def then_compacted(path: Path, offset: int) -> object:
        found = real(path, offset)
        if path.exists():
            writer._compact()
        return found

    monkeypatch.setattr(replies_module, "parse_lines", then_compacted)
    assert [frame["id"].to_list() for frame in reply_files(tmp_path, ["id"])] == [["id1"]]
    writer._open()
    writer.add([reply(2)], [RECEIPT])
    assert replies_of(tmp_path)["id"].to_list() == ["id1", "id2"]
