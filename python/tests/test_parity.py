"""What `dedup` of the package has of the options of the command: the answers are the same."""

from __future__ import annotations

import json
import random
from email.message import EmailMessage
from pathlib import Path
from typing import Any, Literal

import pytest
from given import WORDS, CommandLine, keys, texts

import dedupdb

KEYS, TEXTS = keys(300), texts(300)
ROWS = [{"id": key, "text": text} for key, text in zip(KEYS, TEXTS, strict=True)]
OTHERS = [*texts(40), *texts(40, seed=7), "", "..."]

Which = Literal["first", "longest", "newest", "none"] | int


def written(path: Path, rows: list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("rows") / "rows.jsonl", ROWS)


@pytest.mark.parametrize("keep", ["first", 2, 3, "none", "longest"])
@pytest.mark.parametrize("ranked", [False, True])
def test_rows_are_kept_and_marked_as_by_the_command(
    tmp_path: Path, command_line: CommandLine, keep: Which, ranked: bool
) -> None:
    rows = [{**row, "score": str(number * 7 % 50)} for number, row in enumerate(ROWS)] if ranked else ROWS
    file, marked = written(tmp_path / "rows.jsonl", rows), tmp_path / "marked.jsonl"
    options = ["--keep", keep, *(["--keep-by", "-score"] if ranked else [])]
    command_line("dedup", file, "-o", marked, "--mark", "dup", *options)
    expected = lines(marked)
    result = dedupdb.dedup(rows, keep=keep, keep_by="-score" if ranked else None)
    assert result.keep == [row["dup_keep"] for row in expected]
    assert [row["id"] for row in result.kept] == [row["id"] for row in expected if row["dup_keep"]]
    marks = result.marks()
    assert len(set(marks["dup_cluster"])) == len(set(marks["dup_representative"])) < len(rows)
    # Of several kept texts that one resembles, the command may name another one than the most similar. Here it does so
    # only if the order is not that of the input.
    if keep != "longest" and not ranked:
        assert marks["dup_similarity"] == [row["dup_similarity"] for row in expected]
        assert [KEYS[row] for row in marks["dup_representative"]] == [row["dup_representative"] for row in expected]
        pairs = set(zip(marks["dup_cluster"], [row["dup_cluster"] for row in expected], strict=True))
        assert len(pairs) == len(set(marks["dup_cluster"]))
    assert list(dedupdb.dedup(rows, keep=keep).marks("x")) == [
        "x_keep",
        "x_cluster",
        "x_representative",
        "x_similarity",
    ]


def test_none_of_several_similar_rows_is_kept(tmp_path: Path, command_line: CommandLine, file: Path) -> None:
    removed = tmp_path / "removed.jsonl"
    command_line("dedup", file, "-o", tmp_path / "kept.jsonl", "--keep", "none", "--removed", removed)
    expected = {(line["key"], line["earlier"], line["jaccard"]) for line in lines(removed)}
    result = dedupdb.dedup(ROWS, keep="none", key="id")
    dropped = result.dropped
    found = zip(dropped["key"], dropped["earlier_key"], dropped["jaccard"], strict=True)
    assert set(found) == expected
    assert dropped["row"] == [row for row, keep in enumerate(result.keep) if not keep]
    assert [group[0] for group in result.groups] == [group[0] for group in dedupdb.dedup(ROWS).groups]
    assert not any(result.keep[row] for group in result.groups for row in group)
    assert dedupdb.dedup(["", "", "x"], keep="none").keep == [True] * 3


def test_rows_are_compared_with_others_alone(tmp_path: Path, command_line: CommandLine, file: Path) -> None:
    others = [{"id": f"other/{number:03}", "text": text} for number, text in enumerate(OTHERS)]
    against, removed = written(tmp_path / "others.jsonl", others), tmp_path / "removed.jsonl"
    command_line("dedup", file, "-o", tmp_path / "kept.jsonl", "--against", against, "--removed", removed)
    expected = [(line["key"], line["earlier"], line["jaccard"]) for line in lines(removed)]
    assert 0 < len(expected) < len(ROWS)
    by_rows = dedupdb.dedup(ROWS, against=others, key="id")
    dropped = by_rows.dropped
    columns = (dropped["key"], dropped["earlier"], dropped["jaccard"])
    assert [(key, f"other/{row:03}", share) for key, row, share in zip(*columns, strict=True)] == expected
    assert by_rows.kept == [row for row in ROWS if row["id"] not in set(dropped["key"])]
    assert dedupdb.dedup(ROWS, against=dedupdb.read(against)).keep == by_rows.keep
    with dedupdb.open(tmp_path / "store", passage=0) as store:
        store.add(others)
        dropped = dedupdb.dedup(ROWS, against=store, key="id").dropped
        columns = (dropped["key"], dropped["earlier"], dropped["jaccard"])
        assert list(zip(*columns, strict=True)) == expected
        assert len(store) == len(others)
        with pytest.raises(ValueError, match="threshold: a store has its own parameters"):
            dedupdb.dedup(ROWS, against=store, threshold=0.9)
    with pytest.raises(ValueError, match="the store is closed"):
        dedupdb.dedup(ROWS, against=store)


def test_what_was_compared_with_others_is_marked(tmp_path: Path) -> None:
    rows = [OTHERS[0], "a text of its own", None, OTHERS[0]]
    result = dedupdb.dedup(rows, against=OTHERS, errors="skip")
    assert result.keep == [False, True, False, False] and [row for row, _ in result.skipped] == [2]
    assert result.marks() == {
        "dup_keep": [False, True, False, False],
        "dup_cluster": [0, 1, None, 0],
        "dup_representative": [0, None, None, 0],
        "dup_similarity": [1.0, 1.0, None, 1.0],
    }
    with pytest.raises(ValueError, match="groups: rows were compared with others"):
        _ = result.groups
    assert dedupdb.dedup([OTHERS[0]], against=OTHERS, ignore=OTHERS[0]).keep == [True]
    with (
        dedupdb.open(tmp_path / "store") as store,
        pytest.raises(ValueError, match="ignore: texts are stored with what is to be ignored"),
    ):
        dedupdb.dedup(["x"], against=store, ignore="y")


def test_rows_have_keys() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"number": range(300), "text": TEXTS})
    dropped = dedupdb.dedup(table, key="number").dropped
    assert dropped["key"] == [str(row) for row in dropped["row"]]
    assert dropped["earlier_key"] == [str(row) for row in dropped["earlier"]]
    longest = dedupdb.dedup(table, key="number", keep="longest").dropped
    assert longest["earlier_key"] == [str(row) for row in longest["earlier"]]
    with pytest.raises(ValueError, match="row 1: the key is null"):
        dedupdb.dedup([{"id": "a", "text": "x"}, {"id": None, "text": "y"}], key="id")
    skipping = dedupdb.dedup(
        [{"id": "a", "text": "x y"}, {"id": None, "text": "y"}, {"id": "c", "text": "x y"}], key="id", errors="skip"
    )
    assert (skipping.dropped["key"], skipping.dropped["earlier_key"]) == (["c"], ["a"])


def test_what_does_not_go_together_is_refused() -> None:
    refused: dict[str, Any]
    for refused in ({"keep": "first"}, {"keep": 2}, {"keep_by": "x"}, {"containment": 0.8}):
        with pytest.raises(ValueError, match="it does not go with against"):
            dedupdb.dedup(TEXTS, against=OTHERS, **refused)
    for refused in ({"against": OTHERS}, {"key": "id"}, {"keep": "none"}):
        with pytest.raises(ValueError, match="it does not go with unit"):
            dedupdb.dedup(TEXTS, unit="line", **refused)
    with pytest.raises(TypeError, match=r"against: a str; for a store or files, give dedupdb\.open"):
        dedupdb.dedup(TEXTS, against="others.jsonl")
    with pytest.raises(ValueError, match='keep: "0"; there are'):
        dedupdb.dedup(TEXTS, keep=0)
    with pytest.raises(TypeError, match="keep: a str or a number of rows, not bool"):
        dedupdb.dedup(TEXTS, keep=True)
    with pytest.raises(ValueError, match="against: row 1: the text is null"):
        dedupdb.dedup(TEXTS, against=["x", None])
    with pytest.raises(ValueError, match="marks: parts of texts"):
        dedupdb.dedup(TEXTS, unit="line").marks()


def test_answers_do_not_depend_on_memory(path: Path) -> None:
    with dedupdb.open(path) as store:
        assert store.add(KEYS, TEXTS, memory=1).added == len(KEYS)
        searches: list[dict[str, Any]] = [{"exhaustive": True}, {"containment": 0.8}]
        for search in searches:
            found, expected = list(store.pairs(**search, memory=1)), list(store.pairs(**search))
            order = [sorted((row["key_a"], row["key_b"]) for row in rows) for rows in (found, expected)]
            assert order[0] == order[1] != []
        assert list(store.clusters(containment=0.8, memory=1)) == list(store.clusters(containment=0.8))
        with pytest.raises((ValueError, OverflowError, TypeError), match="memory"):
            store.pairs(memory=-1)
        with pytest.raises(TypeError, match="memory"):
            store.add("a", "b", memory="1GiB")  # type: ignore[arg-type]


def test_items_are_marked_as_by_the_command(tmp_path: Path, command_line: CommandLine) -> None:
    items = [{"id": f"item/{number}", "text": text} for number, text in enumerate(TEXTS[:20])]
    file, bench = written(tmp_path / "rows.jsonl", ROWS), written(tmp_path / "bench.jsonl", items)
    command_line("decontaminate", file, "--against", bench, "--action", "mark", "-o", tmp_path / "marked.jsonl")
    marks = dedupdb.decontaminate([*ROWS, {"text": None}], items, errors="skip").marks()
    marks["benchmark_item"] = [
        None if skipped else "" if item is None else items[item]["id"]
        for item, skipped in zip(marks["benchmark_item"], [False] * len(ROWS) + [True], strict=True)
    ]
    assert {name: column[:-1] for name, column in marks.items()} == {
        name: [row[name] for row in lines(tmp_path / "marked.jsonl")] for name in marks
    }
    assert [column[-1] for column in marks.values()] == [False, None, None, None]


def test_a_stored_text_is_looked_up_in_all_ways(path: Path, command_line: CommandLine) -> None:
    with dedupdb.open(path) as store:
        store.add(KEYS, TEXTS)
    key, reader = KEYS[2], dedupdb.open(path, read_only=True)
    ways: list[dict[str, Any]] = [{"nearest": 3}, {"nearest": 40, "exhaustive": True}, {"containment": 0.1}]
    for options in ways:
        named = [part for name, value in options.items() for part in (f"--{name}", value) if part is not True]
        expected = command_line.objects("--store", path, "query", "--key", key, *named)
        found = reader.like(key, **options)
        assert [match.key for match in found] == [line["key"] for line in expected] != []
    with dedupdb.open(path.with_name("other"), passage=0) as store:
        words = [f"word{number}" for number in range(100)]
        store.add(["a", "b"], [" ".join(words[:60]), " ".join(words[50:])])
        assert (store.like("a", nearest=1), len(store.like("a", nearest=1, exhaustive=True))) == ([], 1)
    assert reader.like(key, ignore=TEXTS[2], exhaustive=True) == []
    with pytest.raises(ValueError, match="limit: nearest is the number"):
        reader.like(key, nearest=1, limit=1)


def mailbox(path: Path, count: int, seed: int) -> Path:
    """Messages of a few letters with a few attachments or none."""
    draw = random.Random(seed)
    letters = [" ".join(draw.choices(WORDS, k=40)) for _ in range(count // 8)]
    messages = []
    for number in range(count):
        letter = draw.choice(letters) + draw.choice(["", "", " changed"])
        message = EmailMessage()
        message["Message-ID"] = f"<{seed}.{number}@example.org>"
        message.set_content(letter)
        for attached in draw.sample(range(4), k=draw.choice([0, 0, 1, 1, 2])):
            name = f"{draw.random()}.bin"
            message.add_attachment(bytes([attached] * 9), maintype="application", subtype="x", filename=name)
        messages.append(f"From ada@example.org Tue Mar  5 09:30:00 2024\n{message}\n")
    path.write_text("".join(messages))
    return path


@pytest.mark.parametrize("keep", ["first", 2, "none", "longest", "newest", "against", "containment"])
def test_messages_are_kept_for_their_attachments_as_by_the_command(
    tmp_path: Path, command_line: CommandLine, keep: Any
) -> None:
    pa, pandas, polars = map(pytest.importorskip, ("pyarrow", "pandas", "polars"))
    mail, other = mailbox(tmp_path / "mail.mbox", 200, 1), mailbox(tmp_path / "other.mbox", 9, 2)
    other.write_text(other.read_text() + mail.read_text()[:40_000])
    options = {"against": ["--against", other], "containment": ["--containment", 0.8]}.get(keep, ["--keep", keep])
    command_line("dedup", mail, "-o", tmp_path / "kept.mbox", *options)
    expected = [row["key"] for row in dedupdb.read(tmp_path / "kept.mbox")]

    def kept(rows: Any) -> Any:
        if keep == "against":
            return dedupdb.dedup(rows, against=dedupdb.read(other)).kept
        if keep == "containment":
            return dedupdb.dedup(rows, containment=0.8).kept
        return dedupdb.dedup(rows, keep=keep).kept

    table = pa.table(dedupdb.read(mail))
    assert kept(dedupdb.read(mail))["key"] == expected
    assert kept(table)["key"].to_pylist() == expected
    assert [row["key"] for row in kept(table.to_pylist())] == expected
    for frame in (pandas.DataFrame(table.to_pandas()), polars.from_arrow(table)):
        assert list(kept(frame)["key"]) == expected
    # Without the column, texts alone count.
    fewer = list(kept(table.drop_columns(["attachments_hash"]))["key"].to_pylist())
    assert len(fewer) < len(expected)
    if keep == "against":
        with dedupdb.open(tmp_path / "store") as store:
            store.add(dedupdb.read(other))
            assert dedupdb.dedup(table, against=store).kept["key"].to_pylist() == expected
