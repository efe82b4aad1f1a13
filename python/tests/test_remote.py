"""Files at addresses and open files, against servers on this machine."""

from __future__ import annotations

import gzip
import http.server
import io
import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import dedupdb

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = [{"id": f"row/{number}", "text": f"text number {number} of many", "lang": "en"} for number in range(500)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()


def filled(folder: Path) -> Path:
    """A folder with the rows in several formats."""
    (folder / "more").mkdir(parents=True)
    (folder / "rows.jsonl").write_bytes(LINES)
    (folder / "more" / "rows.jsonl.gz").write_bytes(gzip.compress(LINES))
    (folder / "more" / "note.txt").write_text("a note")
    pq.write_table(pa.Table.from_pylist(ROWS), folder / "rows.parquet")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\nrest")
    return folder


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files, and notes what is asked for. One path is forbidden, and the answer to another one is cut short."""

    asked: list[tuple[str, str]]

    def __init__(self, asked: list[tuple[str, str]], *arguments: Any, **named: Any) -> None:
        self.asked = asked
        super().__init__(*arguments, **named)

    def do_GET(self) -> None:
        self.asked.append((self.command, self.path))
        if self.path == "/forbidden.jsonl":
            self.send_error(403)
        elif self.path == "/short.jsonl":
            self.send_response(200)
            self.send_header("Content-Length", str(len(LINES)))
            self.end_headers()
            self.wfile.write(LINES[: len(LINES) // 2])
        else:
            super().do_GET()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")
    asked: list[tuple[str, str]] = []
    handler = partial(Handler, asked, directory=str(filled(tmp_path / "served")))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The folder in a bucket of a server that speaks S3."""
    pytest.importorskip("s3fs")
    boto3, server = pytest.importorskip("boto3"), pytest.importorskip("moto.server").ThreadedMotoServer
    served = server(ip_address="127.0.0.1", port=0, verbose=False)
    served.start()
    host, port = served.get_host_and_port()
    with pytest.MonkeyPatch.context() as environment:
        secret = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "us-east-1"}
        for name, value in {**secret, "AWS_ENDPOINT_URL": f"http://{host}:{port}"}.items():
            environment.setenv(name, value)
        client = boto3.client("s3")
        client.create_bucket(Bucket="crawls")
        folder = filled(tmp_path_factory.mktemp("bucket") / "day")
        for file in folder.rglob("*.*"):
            client.upload_file(str(file), "crawls", f"day/{file.relative_to(folder)}")
        yield "s3://crawls/day"
    served.stop()


def test_rows_are_read_from_the_web(web: tuple[str, list[tuple[str, str]]], tmp_path: Path) -> None:
    address, asked = web
    for name in ("rows.jsonl", "more/rows.jsonl.gz", "rows.parquet"):
        rows = pa.table(dedupdb.read(f"{address}/{name}"))
        assert rows["key"].to_pylist() == [row["id"] for row in ROWS]
        assert rows["text"].to_pylist() == [row["text"] for row in ROWS]
        assert set(rows["source"].to_pylist()) == {f"{address}/{name}"}
    assert ("GET", "/rows.jsonl") in asked
    with dedupdb.open(tmp_path / "store") as store:
        assert store.add(dedupdb.read([f"{address}/rows.jsonl", f"{address}/more/note.txt"])).added == len(ROWS) + 1
        assert f"{address}/more/note.txt" in store
    kept, dropped = dedupdb.dedup(dedupdb.read([f"{address}/more/note.txt", f"{address}/more/note.txt?again"]))
    assert (kept["key"], dropped["row"]) == ([f"{address}/more/note.txt"], [1])


def test_the_query_of_an_address_tells_files_apart(web: tuple[str, list[tuple[str, str]]]) -> None:
    signed = f"{web[0]}/rows.jsonl?signature=a/b.c"
    other = f"{web[0]}/more/note.txt?id=1"
    rows = list(dedupdb.read([signed, other], id_field="none"))
    assert [row["key"] for row in rows if row["record"] in (None, 1, 2)] == [f"{signed}#1", f"{signed}#2", other]
    assert {row["source"] for row in rows} == {signed, other}


def test_a_large_file_is_one_stream(web: tuple[str, list[tuple[str, str]]], tmp_path: Path) -> None:
    # Larger than the parts in which fsspec asks for a file; this server does not answer with parts.
    (tmp_path / "served" / "large.jsonl").write_bytes(LINES * 200)
    address, asked = web
    rows = dedupdb.read(f"{address}/large.jsonl", id_field="none")
    assert sum(1 for _ in rows) == 200 * len(ROWS)
    assert asked.count(("GET", "/large.jsonl")) == 1


def test_failures_of_the_web_are_named(web: tuple[str, list[tuple[str, str]]]) -> None:
    address, _ = web
    with pytest.raises(FileNotFoundError, match=r"missing\.jsonl: there is no such file"):
        dedupdb.read(f"{address}/missing.jsonl")
    with pytest.raises(ValueError, match=r"forbidden\.jsonl: .*403"):
        list(dedupdb.read(f"{address}/forbidden.jsonl"))
    with pytest.raises(ValueError, match=r"short\.jsonl: .*(not enough data|payload|incomplete)"):
        list(dedupdb.read(f"{address}/short.jsonl"))
    with pytest.raises(ValueError, match=r"picture\.png: binary, PNG image"):
        list(dedupdb.read(f"{address}/picture.png"))
    skipping = dedupdb.read([f"{address}/{name}" for name in ("forbidden.jsonl", "rows.jsonl")], errors="skip")
    assert len(list(skipping)) == len(ROWS) and len(skipping.skipped) == 1
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}/rows.jsonl"
    with pytest.raises(ValueError, match=r"rows\.jsonl: .*[Cc]onnect"):
        list(dedupdb.read(nobody))


def test_rows_are_read_from_a_bucket(bucket: str, tmp_path: Path) -> None:
    for name in ("rows.jsonl", "more/rows.jsonl.gz", "rows.parquet"):
        assert [row["key"] for row in dedupdb.read(f"{bucket}/{name}")] == [row["id"] for row in ROWS]
    matching = dedupdb.read(f"{bucket}/**/*.jsonl*", id_field="none")
    assert {row["source"] for row in matching} == {f"{bucket}/rows.jsonl", f"{bucket}/more/rows.jsonl.gz"}
    below = list(dedupdb.read(f"{bucket}/more", id_scope="file"))
    assert [row["key"] for row in below[:2]] == [f"{bucket}/more/note.txt", f"{bucket}/more/rows.jsonl.gz#row/0"]
    for missing in ("missing.jsonl", "missing/*.jsonl"):
        with pytest.raises(FileNotFoundError, match="missing"):
            dedupdb.read(f"{bucket}/{missing}")
    with dedupdb.open(tmp_path / "store") as store:
        assert store.add(dedupdb.read(f"{bucket}/rows.jsonl")).added == len(ROWS)
    with pytest.raises(ValueError, match="is the address of another service"):
        dedupdb.open(f"{bucket}/store")


def test_an_object_that_stands_for_a_folder_is_no_file(bucket: str) -> None:
    client = pytest.importorskip("boto3").client("s3")
    for key in ("marked/", "marked/inner/", "empty/"):
        client.put_object(Bucket="crawls", Key=key)
    client.put_object(Bucket="crawls", Key="marked/inner/a.txt", Body=b"a note")
    folder = bucket.replace("day", "marked")
    for address in (folder, f"{folder}/", f"{folder}/**", f"{folder}/*/*"):
        assert [row["key"] for row in dedupdb.read(address)] == [f"{folder}/inner/a.txt"], address
    with pytest.raises(FileNotFoundError, match="no file matches"):
        dedupdb.read(bucket.replace("day", "empty"))


@pytest.mark.parametrize("of_folders", [{"include": "*.txt"}, {"exclude": ["*.txt"]}, {"gitignore": True}], ids=str)
def test_patterns_of_folders_are_not_for_buckets(bucket: str, of_folders: dict[str, Any]) -> None:
    (name,) = of_folders
    with pytest.raises(ValueError, match=f"{name}: .*{bucket}/more"):
        dedupdb.read(f"{bucket}/more", **of_folders)
    assert len(list(dedupdb.read(f"{bucket}/more/*.txt", **of_folders))) == 1


class Bytes:
    """Bytes without an end, or with one, which counts how many were read."""

    name = "endless.jsonl"

    def __init__(self) -> None:
        self.read_so_far = 0

    def read(self, size: int) -> bytes:
        line = b'{"text": "' + b"x" * 100 + b'"}\n'
        self.read_so_far += size
        return (line * (size // len(line) + 1))[:size]


def test_a_stream_is_not_in_memory() -> None:
    endless = Bytes()
    rows = dedupdb.read(endless)  # type: ignore[arg-type]
    row = next(rows)
    assert row["key"] == "endless.jsonl#1"
    # A few batches of 4 MB are read ahead.
    assert endless.read_so_far < 100_000_000


def test_open_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, keys = filled(tmp_path / "files"), [row["id"] for row in ROWS]
    with open(folder / "rows.jsonl", "rb") as plain, gzip.open(folder / "more" / "rows.jsonl.gz") as compressed:
        assert [row["key"] for row in dedupdb.read([plain, compressed], id_field="none")] == [  # type: ignore[list-item]
            f"{folder / name}#{number}" for name in ("rows.jsonl", "more/rows.jsonl.gz") for number in range(1, 501)
        ]
    with open(folder / "rows.parquet", "rb") as table:
        assert [row["key"] for row in dedupdb.read(table)] == keys
    nameless = dedupdb.read([io.BytesIO(b"one text"), io.BytesIO(b"another")])
    assert {row["key"]: row["text"] for row in nameless} == {"stream-1": "one text", "stream-2": "another"}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LINES)))
    assert [row["key"] for row in dedupdb.read("-", format="jsonl")] == keys
    with pytest.raises(TypeError, match='stream-1 gives str; open it as bytes, with the mode "rb"'):
        dedupdb.read(io.StringIO("text"))


@pytest.mark.parametrize(
    ("read", "why"),
    [
        (lambda size: "text", r"read\(\) returned str, not bytes"),
        (lambda size: b"x" * (size + 1), "more than it was asked for"),
        (lambda size: 1 / 0, "ZeroDivisionError: division by zero"),
    ],
)
def test_what_an_open_file_does_wrong_is_named(read: Any, why: str) -> None:
    file: Any = type("File", (), {"name": "wrong.jsonl", "read": staticmethod(read)})()
    with pytest.raises(ValueError, match=rf"wrong\.jsonl: .*{why}"):
        list(dedupdb.read(file))


@pytest.mark.parametrize(
    ("hidden", "address", "advice"),
    [
        ("fsspec", "s3://bucket/a.jsonl", r"reading an address needs fsspec; pip install 'dedupdb\[remote\]'"),
        ("s3fs", "s3://bucket/a.jsonl", r"s3fs.*; pip install 'dedupdb\[remote\]'"),
        ("", "nope://bucket/a.jsonl", "Protocol not known: nope"),
    ],
)
def test_what_is_missing_is_named(hidden: str, address: str, advice: str) -> None:
    if hidden != "fsspec":
        pytest.importorskip("fsspec")
    program = f"import sys; sys.modules[{hidden!r}] = None; import dedupdb; dedupdb.read({address!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1
    assert re.search(rf"Error: {address}: .*{advice}", last), done.stderr


def test_a_program_may_end_while_a_stream_is_read() -> None:
    program = (
        "import dedupdb, time\n"
        "class Slow:\n"
        "    name = 'slow.jsonl'\n"
        "    def read(self, size):\n"
        "        time.sleep(0.01)\n"
        '        return b\'{"text": "x y z"}\\n\' * 1000\n'
        "print(next(dedupdb.read(Slow()))['key'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "slow.jsonl#1\n", "")


def test_files_in_folders_are_chosen(tmp_path: Path) -> None:
    folder = filled(tmp_path / "files")
    (folder / ".gitignore").write_text("rows.*\n")

    def names(**options: Any) -> list[str]:
        rows = dedupdb.read(folder, id_field="none", **options)
        return sorted({str(Path(row["source"]).relative_to(folder)) for row in rows})

    assert names(include="*.txt") == ["more/note.txt"]
    assert names(exclude=["more", "*.parquet", ".*"]) == ["rows.jsonl"]
    assert names(gitignore=True) == [".gitignore", "more/note.txt"]
    with pytest.raises(ValueError, match="include: "):
        names(include="")
    (tmp_path / "a.eml").write_text("From: a@example.org\nSubject: tram\n\n> an old line\na new line\n")
    for quoted in (True, False):
        (mail,) = dedupdb.read(tmp_path / "a.eml", quoted=quoted)
        assert ("an old line" in mail["text"]) == quoted
