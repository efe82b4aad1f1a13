"""A store, from its making to its end."""

from __future__ import annotations

import os
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from given import keys, texts

import dedupdb
from dedupdb import errors

if TYPE_CHECKING:
    from dedupdb._parameters import Parameters

NIGHT = "it was the first of many long and cold nights in the old lighthouse by the sea"


def test_the_five_lines_of_the_readme(path: Path) -> None:
    with dedupdb.open(path, threshold=0.8) as store:
        added = store.add(["one", "two"], [NIGHT, "nobody knows who painted the harbour crane in green"])
        assert (added.added, added.documents, added.skipped) == (2, 2, [])
        [match] = store.query(NIGHT + "!")
        assert (match.key, match.jaccard, match.exact_copy) == ("one", 1.0, False)
        assert match.containment == match.containment_of_match == 1.0
        assert "one" in store and "three" not in store and 1 not in store
        assert len(store) == 2
        del store["one"]
        assert list(store) == ["two"]
        with pytest.raises(KeyError, match="no document of the store has this key"):
            del store["one"]
    with pytest.raises(ValueError, match="closed"):
        len(store)


def test_documents(store: dedupdb.Store) -> None:
    store.add("one", NIGHT)
    document = store["one"]
    assert store.get("one") == document
    assert store.get("two") is None
    with pytest.raises(errors.NoSuchDocument) as raised:
        store["two"]
    assert raised.value.key == "two"
    assert str(raised.value) == '"two": no document of the store has this key'
    assert document.size == len(NIGHT)
    assert document.shingles == len(NIGHT.split()) - 4
    assert len(document.hash) == 32
    assert abs((datetime.now(timezone.utc) - document.added).total_seconds()) < 1000
    today = datetime.now(timezone.utc).date()
    assert document.last_seen in (today, today - timedelta(days=1))
    assert store.touch("one") and not store.touch("two")
    assert document.modified is None
    store.add([("b/2", "x"), ("b/1", "y"), ("c", "z")])
    assert [found.key for found in store.documents("b/")] == ["b/1", "b/2"]
    assert list(store) == ["b/1", "b/2", "c", "one"]


def test_what_becomes_of_documents(store: dedupdb.Store) -> None:
    store.add("one", NIGHT)
    added = store.add(["one", "two", "three"], [NIGHT, NIGHT, NIGHT + " again"])
    assert added == dedupdb.Added(2, 0, 1, 1, 1, 0, [])
    assert store.add("one", "something else").updated == 1
    unique = store.add([("four", NIGHT), ("five", "a text of its own")], unique=True)
    assert (unique.added, unique.kept_out, unique.exact_copies) == (1, 1, 1)


def test_inserting(store: dedupdb.Store) -> None:
    assert store.insert("one", NIGHT) == dedupdb.Verdict("added", None)
    assert store.insert("one", NIGHT).verdict == "unchanged"
    verdict = store.insert("two", NIGHT + " !")
    assert verdict.is_kept_out
    assert verdict.verdict == "near_duplicate"
    assert verdict.earlier is not None and verdict.earlier.key == "one"
    table = store.insert(["two", "three"], [NIGHT, "a text of its own"])
    assert list(table) == [
        {"row": 0, "verdict": "exact_copy", "earlier": "one", "jaccard": 1.0},
        {"row": 1, "verdict": "added", "earlier": None, "jaccard": None},
    ]
    assert table["verdict"] == ["exact_copy", "added"]
    assert table.column_names == ["row", "verdict", "earlier", "jaccard"]
    with pytest.raises(KeyError):
        table["nothing"]
    assert repr(table) == "<dedupdb.Table of 2 rows: row, verdict, earlier, jaccard>"


def test_questions(store: dedupdb.Store) -> None:
    store.add(["a", "b", "c"], [NIGHT, NIGHT, NIGHT + " again and again"])
    assert [match.key for match in store.query(NIGHT)] == ["a", "b", "c"]
    assert [match.key for match in store.query(NIGHT, limit=1)] == ["a"]
    assert [match.key for match in store.query(NIGHT, threshold=1.0)] == ["a", "b"]
    assert [match.key for match in store.like("a")] == ["b", "c"]
    assert store.query("") == []
    found = store.query([NIGHT, "nothing like it", NIGHT], limit=2)
    assert found["row"] == [0, 0, 2, 2]
    assert found["key"] == ["a", "b", "a", "b"]
    with pytest.raises(errors.InvalidQuery, match="threshold") as raised:
        store.query(NIGHT, threshold=2.0)
    assert isinstance(raised.value, ValueError)
    with pytest.raises(errors.InvalidQuery, match="row 0: threshold"):
        store.query([NIGHT], threshold=0.0)
    with pytest.raises(KeyError):
        store.like("nothing")


def test_a_text_in_a_longer_one_is_contained(store: dedupdb.Store) -> None:
    words = [f"word{number}" for number in range(200)]
    store.add(["page", "article", "other"], [" ".join(words), " ".join(words[50:90]), "a text of its own"])
    assert list(store.pairs(containment=0.8, shortest=41)) == []
    (pair,) = store.pairs(containment=0.8)
    assert (pair["key_a"], pair["key_b"], pair["containment"]) == ("article", "page", 1.0)
    assert 0.18 < pair["jaccard"] < 0.19
    members = list(store.clusters(containment=0.8))
    assert [(member["key"], member["representative"], member["containment"]) for member in members] == [
        ("page", "page", 1.0),
        ("article", "page", 1.0),
    ]


def test_passages_have_their_places(path: Path) -> None:
    words = [f"word{number}" for number in range(200)]
    quoting = "Ä first line\n" + " ".join([*words[50:90], "and", "more"])
    with dedupdb.open(path, passage=20) as store:
        store.add(["page", "other"], [" ".join(words), "a text of its own"])
        (passage,) = store.passages([quoting, "nothing of it"])
        assert (passage["row"], passage["key"], passage["words"], passage["place"]) == (0, "page", 40, 50)
        assert (passage["first"], passage["line"], passage["documents"], passage["common"]) == (3, 2, 1, False)
        assert store.stats().unfingerprinted == 0
        text = quoting.encode()[passage["byte_start"] : passage["byte_end"]].decode()
        assert text == " ".join(words[50:90])
        assert len(store.passages([quoting], at_least=41)) == 0
        (match,) = store.query(quoting, containment=0.7)
        assert match.key == "page" and match.containment is not None and match.containment > 0.8
        assert store.schema["passage"] == 20
        with pytest.raises(errors.InvalidQuery, match="at-least"):
            store.passages([quoting], at_least=4)
    part = " ".join(words[20:120])
    with dedupdb.open(path, containment=0.8) as store:
        kept_out = store.insert("part", part)
        assert kept_out.verdict == "contained" and kept_out.is_kept_out
        assert kept_out.earlier is not None and kept_out.earlier.key == "page"
        added = store.add(["part"], [part], unique=True)
        assert (added.kept_out, added.contained, added.near_duplicates) == (1, 1, 0)
    with dedupdb.open(path.parent / "without", passage=0) as store, pytest.raises(errors.InvalidQuery):
        store.passages([quoting])


def test_a_template_does_not_count_and_is_the_most_common_passage(path: Path) -> None:
    form = " ".join(f"form{number}" for number in range(60))
    own = [" ".join(f"own{text}x{number}" for number in range(20)) for text in range(20)]
    texts = [f"{form} {words}" for words in own]
    with dedupdb.open(path) as store:
        store.add([str(number) for number in range(20)], texts)
        for ignore in (form, [form], [{"text": form}]):
            assert [match.key for match in store.query(texts[0], threshold=0.1, ignore=ignore)] == ["0"]
            assert store.query([texts[0]], threshold=0.1, ignore=ignore)["key"] == ["0"]
            assert list(store.pairs(threshold=0.1, ignore=ignore)) == []
            assert store.passages([texts[0] + " and more"], ignore=ignore)["words"] == [24]
        assert len(store.passages([form])) == 20
        (passage,) = pytest.importorskip("pyarrow").table(store.common(texts=texts)).to_pylist()
        assert (passage["documents"], passage["words"], passage["text"]) == (20, 60, form)
        assert passage["keys"] == ["0", "1", "2"]
        assert len(store.common()) == 0
        assert len(store.common(texts=texts, min_documents=21)) == 0
        with pytest.raises(TypeError):
            store.query(texts[0], ignore=7)


def test_groups(store: dedupdb.Store) -> None:
    store.add(["a", "b", "c", "d"], [NIGHT, NIGHT, NIGHT + " again", "a text of its own"])
    pairs = list(store.pairs())
    assert [(pair["key_a"], pair["key_b"]) for pair in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert pairs[0]["exact_copy"] and pairs[0]["jaccard"] == 1.0
    assert len(list(store.pairs(exhaustive=True, fold_copies=True))) == 1
    assert next(store.pairs(between=("a", "c")))["key_b"] == "c"
    members = list(store.clusters(linkage="representative"))
    assert {member["key"] for member in members} == {"a", "b", "c"}
    assert {member["representative"] for member in members} == {"a"}
    assert {member["size"] for member in members} == {3}
    assert list(store.clusters(min_size=4)) == []
    with pytest.raises(ValueError, match="linkage"):
        store.clusters(linkage="single")  # type: ignore[arg-type]
    with pytest.raises(errors.InvalidQuery):
        store.pairs(threshold=0.0)
    with pytest.raises(errors.InvalidQuery, match="containment"):
        store.pairs(containment=1.5)
    stream = store.pairs()
    assert next(stream)["key_a"] == "a"
    assert repr(stream).startswith("<dedupdb.Batches of pairs: key_a, key_b,")


def test_a_large_cluster_comes_in_many_batches(store: dedupdb.Store) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    store.add((f"{number:05}", NIGHT) for number in range(10_000))
    store.add(["x", "y"], ["a text of its own", "a text of its own"])
    reader = pyarrow.RecordBatchReader.from_stream(store.clusters())
    batches = list(reader)
    assert [batch.num_rows for batch in batches] == [4096, 4096, 1810]
    members = pyarrow.Table.from_batches(batches).to_pylist()
    assert [member["key"] for member in members[:10_000]] == [f"{number:05}" for number in range(10_000)]
    found = {(member["cluster"], member["size"], member["representative"]) for member in members}
    assert found == {(1, 10_000, "00000"), (2, 2, "x")}


def test_documents_are_replaced_and_renamed(path: Path) -> None:
    with dedupdb.open(path) as store:
        store.insert("a", NIGHT)
        assert store.insert("b", NIGHT).verdict == "exact_copy"
        assert store.replace("b", NIGHT) == ("added", None)
        assert store.replace("b", "a text of its own") == ("updated", None)
        assert store.replace("b", "a text of its own") == ("unchanged", None)
        assert not store.rename("nobody", "c")
        assert store.rename("a", "c")
        assert store.insert("c", NIGHT).verdict == "unchanged"
        assert store.rename("c", "b") and list(store) == ["b"]
        assert [match.key for match in store.query(NIGHT)] == ["b"]
        with pytest.raises(errors.InvalidKey):
            store.rename("b", "")


def test_upkeep(path: Path, tmp_path: Path) -> None:
    with dedupdb.open(path) as store:
        store.add(["a", "b", "c"], [NIGHT, NIGHT + " again", "a text of its own"])
        assert store.remove(["c", "d"]) == 1
        assert store.remove("d") == 0
        stats = store.stats()
        assert (stats.documents, stats.contents, stats.removed) == (2, 2, 1)
        assert stats.bytes == sum(stats.files.values()) > stats.removed_bytes > 0
        assert (stats.commit, stats.generation) == (2, 1) and stats.committed <= datetime.now(timezone.utc)
        assert store.holder() is None
        seen: list[tuple[int, int | None]] = []
        assert store.compact(progress=lambda done, total: seen.append((done, total)))
        assert store.stats().removed == 0
        assert store.reindex(permutations=256)
        assert store.schema["permutations"] == 256
        assert [match.key for match in store.query(NIGHT)] == ["a", "b"]
        assert store.reindex(bands="20x6") and store.reindex(seed=2)
        assert store.schema["bands"] == "20x6", "what bands do not follow from leaves them as they are"
        copy = store.backup(tmp_path / "copy")
        assert copy.documents == 2
        report = store.check()
        assert report.is_clean and report.documents == 2
        store.add("d", "the handle writes after a check")
        with pytest.raises(errors.NotEmpty):
            store.backup(tmp_path)
    with dedupdb.open(tmp_path / "copy", read_only=True) as copied:
        assert len(copied) == 2
        assert copied.check().is_clean


def test_damage_is_found(path: Path) -> None:
    with dedupdb.open(path) as store:
        # So many words that opening the store does not need their shingles.
        texts = [" ".join(f"w{number}x{word}" for word in range(80)) for number in range(100)]
        store.add([str(number) for number in range(100)], texts)
    [column] = path.glob("shingles.*")
    content = bytearray(column.read_bytes())
    content[100] ^= 1
    column.write_bytes(content)
    with dedupdb.open(path, read_only=True) as store:
        report = store.check()
    assert not report.is_clean
    assert "shingles" in report.problems[0].file


def test_a_schema_opens_another_store(path: Path, tmp_path: Path) -> None:
    given: list[Parameters] = [
        {},
        {"threshold": 1.0, "lowercase": False, "seed": 2**63, "slot_bits": 8, "bands": (16, 8), "fold": "marks"},
        {"preset": "fineweb", "shingles": False},
    ]
    for number, parameters in enumerate(given):
        with dedupdb.open(tmp_path / f"one{number}", **parameters) as one:
            one.add("a", NIGHT)
            schema = one.schema
            assert type(schema["threshold"]) is float and type(schema["lowercase"]) is bool
            with dedupdb.open(tmp_path / f"two{number}", **schema) as two:
                assert two.schema == schema and two.merge(one) == 1
            assert not one.reindex(**schema)
            assert dedupdb.dedup([NIGHT, NIGHT], **schema).keep == [True, False]
    with pytest.raises(errors.SchemaMismatch, match="lowercase"):
        dedupdb.open(tmp_path / "two1", expect={"lowercase": True})


def test_addresses_are_refused(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for address in ("s3://bucket/store", Path("s3://bucket/store"), "gs://x", "hf+http://x/y", "file:///tmp/x"):
        for read_only in (False, True):
            with pytest.raises(ValueError, match=r"path: .* is the address of another service"):
                dedupdb.open(address, read_only=read_only)
        with dedupdb.open(path) as store, pytest.raises(ValueError, match="address"):
            store.backup(address)
    assert os.listdir(tmp_path) == [path.name]
    for folder in ("a:b", "./s3:/x", "notes/10:/x", "1:/x", "C:/x"):
        with dedupdb.open(folder) as store:
            assert str(store.path) == os.path.join(tmp_path, os.path.normpath(folder))


def test_completion_offers_what_is_public() -> None:
    offered = dir(dedupdb)
    assert set(dedupdb.__all__) <= set(offered) and all(hasattr(dedupdb, name) for name in offered)
    assert not {"os", "annotations", "Any", "Iterable", "TYPE_CHECKING", "package_of"} & set(offered)
    assert [name for name in offered if name.startswith("_")] == ["__version__"]


def test_schema(path: Path) -> None:
    with dedupdb.open(path, threshold=0.7, shingling="char:9", permutations=64, bands="16x4", seed=7) as store:
        assert store.threshold == 0.7
        assert store.schema["bands"] == "16x4"
        assert 0.9 < store.recall(0.8) < 1.0
        with pytest.raises(ValueError, match="jaccard"):
            store.recall(2.0)
    # A store keeps its parameters, and those of a reindex.
    with dedupdb.open(path, threshold=0.8, permutations=8, bands=(1, 1)) as store:
        assert store.schema["shingling"] == "char:9" and store.threshold == 0.7
        store.reindex(threshold=0.6)
    with dedupdb.open(path, threshold=0.7, expect={"threshold": 0.6, "shingling": "char:9"}) as store:
        assert store.threshold == 0.6
    for expected, named in [({"threshold": 0.7}, "threshold"), ({"recall": 0.999999, "seed": 7}, "recall")]:
        for read_only in (False, True):
            with pytest.raises(errors.SchemaMismatch) as raised:
                dedupdb.open(path, read_only=read_only, expect=expected)  # type: ignore[arg-type]
            assert raised.value.parameter == named


@pytest.mark.parametrize(
    ("parameter", "value", "kind"),
    [
        ("threshold", 2.0, ValueError),
        ("threshold", "high", TypeError),
        ("permutations", 0, ValueError),
        ("permutations", -1, ValueError),
        ("permutations", 2**40, ValueError),
        ("shingling", "word:0", ValueError),
        ("shingling", 5, TypeError),
        ("bands", "18", ValueError),
        ("bands", (1, 2, 3), TypeError),
        ("slot_bits", 12, ValueError),
        ("family", "md5", ValueError),
        ("wait", "soon", ValueError),
        ("wait", [], TypeError),
        ("wait", -1.0, ValueError),
    ],
)
def test_wrong_parameters_are_named(path: Path, parameter: str, value: object, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=parameter.replace("slot_bits", "slot.bits")):
        dedupdb.open(path, **{parameter: value})  # type: ignore[arg-type]
    assert not path.exists()
    with pytest.raises(TypeError):
        dedupdb.open(path, colour="red")  # type: ignore[call-arg]


def test_places(path: Path, tmp_path: Path) -> None:
    with pytest.raises(errors.NotAStore) as raised:
        dedupdb.open(path, create=False)
    assert raised.value.path == str(path)
    with pytest.raises(errors.NotAStore):
        dedupdb.open(path, read_only=True)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("text")
    with pytest.raises(errors.NotEmpty):
        dedupdb.open(tmp_path / "full")
    with dedupdb.open(path) as store, dedupdb.open(path, read_only=True) as reader:
        store.add("a", NIGHT)
        assert len(reader) == 0
        assert reader.refresh()
        assert len(reader) == 1
        with pytest.raises(errors.ReadOnly):
            reader.add("b", NIGHT)
        with pytest.raises(errors.ReadOnly):
            del reader["a"]


def test_how_things_look(path: Path) -> None:
    store = dedupdb.open(path)
    store.add("a", NIGHT)
    assert repr(store) == f'<dedupdb.Store "{path}": 1 documents, threshold 0.8, 128 permutations>'
    assert bool(store) and store.path == path and not store.read_only and not store.closed
    assert store.searches_cut_short == 0
    store.close()
    store.close()
    assert store.closed and repr(store).endswith("(closed)>")
    assert dedupdb.Store.__doc__ and dedupdb.Store.add.__doc__
    assert issubclass(errors.Locked, dedupdb.Error)
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), dedupdb.Error)


def test_a_store_that_is_not_closed_is_closed_with_its_last_handle(path: Path) -> None:
    store = dedupdb.open(path)
    store.add("a", NIGHT)
    documents = iter(store)
    del store
    assert list(documents) == ["a"]
    del documents
    with dedupdb.open(path) as again:
        assert len(again) == 1


def test_the_nearest_are_the_most_similar(tmp_path: Path) -> None:
    made = texts(120)
    with dedupdb.open(tmp_path / "store", shingling="word:1") as store:
        store.add(keys(120), made)
        ranked = store.query(made[0], nearest=120, exhaustive=True)
        shares = [found.jaccard or 0.0 for found in ranked]
        assert shares == sorted(shares, reverse=True)
        assert 0 < shares[-1] < 0.2
        assert store.query(made[0], nearest=3, exhaustive=True) == ranked[:3]
        few = store.query(made[0], nearest=120)
        assert few == [found for found in ranked if found.bands]
        table = store.query(made[:2], nearest=3, exhaustive=True, threshold=0)
        assert table["key"][:3] == [found.key for found in ranked[:3]]
        exact = store.query(made[0], threshold=0.1, exhaustive=True)
        assert exact == [found for found, share in zip(ranked, shares, strict=True) if share >= 0.1]
        with pytest.raises(ValueError, match="limit"):
            store.query("a b c", nearest=2, limit=2)
        with pytest.raises(errors.InvalidQuery, match="nearest"):
            store.query("a b c", nearest=2, containment=0.5)
        with pytest.raises(errors.InvalidQuery, match="threshold"):
            store.query("a b c", threshold=0)
