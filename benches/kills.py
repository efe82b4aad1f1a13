#!/usr/bin/env python3
"""Kills each command that writes at random moments, and checks what it leaves.

    python3 benches/kills.py target/release/dedupdb                  # five minutes
    python3 benches/kills.py target/release/dedupdb --kills 10000    # about as long as it takes

Each turn copies a folder, runs a command in it, and kills the process with SIGKILL after a random part of the time that
the command takes. Then

- a store passes `check`, and holds everything that was acknowledged before;
- a file that the command writes is absent, as it was before, or complete;
- each file that was there is there, in its place or moved aside, byte for byte;
- what was moved aside comes back;
- the same command, run again, ends with what it gives if it is not killed: the same documents, pairs, outputs and
  names of files, with nothing else left beside them.

The first violation ends the run with exit code 1, and its folder stays for inspection. Only kills are tested: for power
cuts, see `docs/testing.md`.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

BEGINNINGS = ("ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu")
WORDS = [begin + end for begin in BEGINNINGS for end in ("dan", "fer", "gol", "hin", "jas")]


def text(source: random.Random, words: int) -> str:
    lines = [" ".join(source.choice(WORDS) for _ in range(12)) for _ in range(words // 12)]
    return "\n\n".join(lines) + "\n"


def edited(source: random.Random, original: str) -> str:
    words = original.split(" ")
    words[source.randrange(len(words))] = "other"
    return " ".join(words)


def corpus(folder: Path, seed: int, documents: int) -> None:
    """Texts, a quarter of them copies of earlier ones with a word changed, and a few exact copies."""
    source = random.Random(seed)
    folder.mkdir(parents=True)
    texts: list[str] = []
    for number in range(documents):
        kind = source.random() if texts else 1.0
        made = text(source, 240)
        if kind < 0.25:
            made = edited(source, source.choice(texts))
        elif kind < 0.3:
            made = source.choice(texts)
        texts.append(made)
        (folder / f"{seed}-{number:03}.txt").write_text(made)
    with (folder.parent / f"{folder.name}.jsonl").open("w") as lines:
        for number, made in enumerate(texts):
            lines.write(json.dumps({"id": f"{seed}/{number}", "text": made}) + "\n")


def contents(folder: Path, without: str = "store") -> dict[str, bytes]:
    """The files below a folder, but those of stores."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    named = ((path.relative_to(folder), path) for path in found)
    return {str(name): path.read_bytes() for name, path in named if not name.parts[0].startswith(without)}


@dataclass
class Scenario:
    """A command, in a folder with `texts`, `more`, and stores of `texts` (`store`) and of `more` (`store-more`)."""

    name: str
    command: list[str]
    # Outputs that are absent or complete after a kill.
    outputs: list[str] = field(default_factory=list)
    # Whether the documents of the store are those of before or of after, nothing between.
    is_whole: bool = False
    # Whether documents that were there may be gone.
    removes: bool = False
    # Whether the command succeeds if what it does is done already.
    again: tuple[int, ...] = (0,)
    before: list[list[str]] = field(default_factory=list)


SCENARIOS = [
    Scenario("init", ["init", "--permutations", "64"], again=(0, 2)),
    Scenario("add", ["add", "texts", "more"]),
    Scenario("add records", ["add", "more.jsonl"]),
    Scenario("add --unique", ["add", "--unique", "more", "more.jsonl"]),
    Scenario("remove", ["remove", "--prefix", "texts/1-0"], removes=True, again=(0, 1)),
    Scenario("rename", ["rename", "texts/1-001.txt", "first"], removes=True, again=(0, 1, 2)),
    Scenario("reindex", ["reindex", "--permutations", "64"], is_whole=True, again=(0, 1)),
    Scenario("compact", ["compact"], is_whole=True, before=[["remove", "--prefix", "texts/1-00"]]),
    Scenario("merge", ["merge", "store-more"]),
    Scenario("backup", ["backup", "copy"], again=(0, 2)),
    Scenario("salvage", ["salvage", "store", "saved"], again=(0, 2)),
    Scenario("report", ["report", "-o", "page.html"], ["page.html"], again=(0, 2)),
    Scenario("dedup", ["dedup", "texts.jsonl", "more.jsonl", "-o", "out.jsonl"], ["out.jsonl"], again=(0, 2)),
    Scenario("dedup, a folder", ["dedup", "texts", "-o", "out"], ["out"], again=(0, 2)),
    Scenario(
        "dedup --store",
        ["dedup", "more.jsonl", "--store", "store", "-o", "out.jsonl"],
        ["out.jsonl"],
        is_whole=True,
        again=(0, 2),
    ),
    Scenario(
        "dedup --unit", ["dedup", "--unit", "paragraph", "texts.jsonl", "-o", "out.jsonl"], ["out.jsonl"], again=(0, 2)
    ),
    Scenario(
        "dedup --cut-passages",
        ["dedup", "--cut-passages", "20", "texts.jsonl", "-o", "out.jsonl"],
        ["out.jsonl"],
        again=(0, 2),
    ),
    Scenario(
        "decontaminate",
        ["decontaminate", "texts.jsonl", "--against", "more.jsonl", "-o", "out.jsonl", "--hits", "hits.tsv"],
        ["out.jsonl", "hits.tsv"],
        again=(0, 2),
    ),
    Scenario("move", ["move", "texts", "aside"]),
]


MARK = ".out.jsonl.dedup/dedupdb-work"


class Violation(Exception):
    """What a kill should not leave."""


class Driver:
    def __init__(self, program: Path, folder: Path, seed: int) -> None:
        self.program, self.folder, self.seed = program, folder, seed
        self.random = random.Random(seed)
        self.base = folder / "base"
        self.base.mkdir()
        for name, number in (("texts", 1), ("more", 2)):
            corpus(self.base / name, number, 60)
            shutil.copy(self.base / "texts" / "1-007.txt", self.base / name / f"{number}-same.txt")
            self.done(self.base, ["add", name], store="store" if number == 1 else "store-more")

    def run(self, folder: Path, command: list[str], store: str = "store") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(self.line(command, store), cwd=folder, capture_output=True, check=False)

    def line(self, command: list[str], store: str = "store") -> list[str]:
        is_without = "--store" in command or command[0] in ("dedup", "decontaminate", "move")
        named = [] if is_without else ["--store", store]
        return [str(self.program), *named, *command]

    def done(self, folder: Path, command: list[str], store: str = "store", codes: tuple[int, ...] = (0,)) -> bytes:
        ran = self.run(folder, command, store)
        if ran.returncode not in codes:
            raise Violation(f"{' '.join(command)}: exit code {ran.returncode}: {ran.stderr.decode()}")
        return ran.stdout

    def documents(self, folder: Path, store: str = "store") -> dict[str, str]:
        lines = self.done(folder, ["--json", "list"], store, (0, 1)).splitlines()
        return {document["key"]: document["hash"] for document in map(json.loads, lines)}

    def state(self, folder: Path) -> tuple[object, ...]:
        """What a command leads to."""
        stores = [store.name for store in sorted(folder.iterdir()) if (store / "index.redb").is_file()]
        answers = [(self.documents(folder, store), self.done(folder, ["pairs"], store, (0, 1))) for store in stores]
        return stores, [(documents, sorted(pairs.splitlines())) for documents, pairs in answers], self.plain(folder)

    def plain(self, folder: Path) -> dict[str, bytes]:
        """All files but those of stores, whose names and times differ, pages, which say when they were made, the empty
        lock of a backup that was killed just after its end, part of a page, and the mark of a killed `dedup --store`,
        which stays until a run replaces the output and then keeps the old one."""
        aside = ("copy", "saved", "page.html", ".copy.dedupdb-backup.lock", ".saved.dedupdb-backup.lock")
        named = ((name, data) for name, data in contents(folder).items() if name != MARK)
        return {
            name: data
            for name, data in named
            if Path(name).parts[0] not in aside and not re.fullmatch(r"\.dedupdb-\w{6}", name)
        }

    def prepare(self, scenario: Scenario) -> tuple[Path, float, tuple[object, ...]]:
        template = self.folder / "template"
        shutil.rmtree(template, ignore_errors=True)
        shutil.copytree(self.base, template)
        if scenario.name == "init":
            shutil.rmtree(template / "store")
        for command in scenario.before:
            self.done(template, command)
        times = []
        for _ in range(3):
            folder = self.fresh(template)
            start = time.monotonic()
            self.done(folder, scenario.command)
            times.append(time.monotonic() - start)
        return template, sorted(times)[1], self.state(folder)

    def fresh(self, template: Path) -> Path:
        folder = self.folder / "now"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(template, folder)
        return folder

    def kill(self, scenario: Scenario, template: Path, seconds: float, wanted: tuple[object, ...]) -> bool:
        """Runs and kills the command. Returns whether it was still running."""
        folder = self.fresh(template)
        before = contents(folder)
        documents = {} if scenario.name == "init" else self.documents(folder)
        child = subprocess.Popen(
            self.line(scenario.command), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(self.random.uniform(0, seconds * 1.1))
        child.kill()
        killed = child.wait() < 0
        after = contents(folder)
        self.check_files(scenario, before, after, wanted)
        if (folder / "store" / "index.redb").is_file():
            self.done(folder, ["check"])
            self.check_documents(scenario, documents, self.documents(folder), wanted)
        elif scenario.name != "init":
            raise Violation("the store is gone")
        if scenario.name == "move":
            if (folder / "aside" / ".dedupdb-moved").is_file():
                self.done(folder, ["move", "--undo", "aside"], codes=(0, 1))
            # A list that was begun before anything was moved.
            (folder / "aside" / ".dedupdb-moving").unlink(missing_ok=True)
            if contents(folder) != before:
                raise Violation("not all files are back in their places")
        self.done(folder, scenario.command, codes=scenario.again)
        found = self.state(folder)
        if found != wanted:
            raise Violation(f"run again, it leads to something else: {differences(wanted, found)}")
        return killed

    def check_files(
        self, scenario: Scenario, before: dict[str, bytes], after: dict[str, bytes], wanted: tuple[object, ...]
    ) -> None:
        complete = wanted[2]
        assert isinstance(complete, dict)
        for name, data in before.items():
            aside = f"aside/{name.removeprefix('texts/')}"
            places = [place for place in (name, aside) if place in after]
            if not places or any(after[place] != data for place in places):
                raise Violation(f"{name} is gone or was changed")
        for output in scenario.outputs:
            of = [name for name in complete if name == output or name.startswith(f"{output}/")]
            there = [name for name in after if name == output or name.startswith(f"{output}/")]
            is_whole = all(after.get(name) == complete[name] for name in of)
            if output == "page.html":
                # It says when it was made.
                is_whole = b"</html>" in after.get(output, b"")[-20:]
            if there and not is_whole:
                raise Violation(f"{output} is there, but not complete")

    def check_documents(
        self, scenario: Scenario, before: dict[str, str], now: dict[str, str], wanted: tuple[object, ...]
    ) -> None:
        stores, answers = wanted[0], wanted[1]
        assert isinstance(stores, list) and isinstance(answers, list)
        end = answers[stores.index("store")][0]
        if scenario.is_whole and now not in (before, end):
            raise Violation(f"the store has {len(now)} documents: neither those of before nor those of after")
        for key, digest in before.items():
            if now.get(key) not in (digest, end.get(key)) or (key not in now and not scenario.removes):
                raise Violation(f"{key} is gone or has another text")
        for key in now.keys() - before.keys():
            if now[key] != end.get(key):
                raise Violation(f"{key} should not be there, or has another text")

    def serve(self, template: Path) -> None:
        """Kills a `serve` that is asked to change things. What it answered must be there."""
        folder = self.fresh(template)
        child = subprocess.Popen(
            self.line(["serve"]), cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert child.stdin is not None and child.stdout is not None
        # Requests that are not answered yet, and what those that are lead to.
        open_requests: list[dict[str, str]] = []
        wanted: dict[str, str | None] = {}

        def answered(line: bytes) -> None:
            request, answer = open_requests.pop(0), json.loads(line)
            if request["op"] == "remove":
                wanted[request["key"]] = None
            elif answer["verdict"] in ("added", "updated", "unchanged"):
                wanted[request["key"]] = request["text"]

        end = time.monotonic() + self.random.uniform(0.005, 0.12)
        while time.monotonic() < end:
            for _ in range(4):
                request = {"op": self.random.choice(["insert", "replace", "remove"])}
                request["key"] = f"page/{self.random.randrange(12)}"
                if request["op"] != "remove":
                    request["text"] = text(self.random, 60)
                open_requests.append(request)
                child.stdin.write(json.dumps(request).encode() + b"\n")
            child.stdin.flush()
            # Others are under way when it is killed; more of them would fill the pipes.
            while len(open_requests) > 20:
                answered(child.stdout.readline())
        child.kill()
        child.wait()
        # What it wrote before it was killed is acknowledged, too.
        for line in child.stdout.read().splitlines(keepends=True):
            if line.endswith(b"\n"):
                answered(line)
        self.done(folder, ["check"])
        self.check_answered(folder, wanted, {request["key"] for request in open_requests})

    def check_answered(self, folder: Path, wanted: dict[str, str | None], unsure: set[str]) -> None:
        """Compares the texts. A change that was not answered may have been made."""
        documents = self.documents(folder)
        ask = [(key, body) for key, body in wanted.items() if key not in unsure]
        for number, (key, body) in enumerate(ask):
            if body is None:
                if key in documents:
                    raise Violation(f"{key} was removed, and is there")
                continue
            file = folder / f"answered-{number}.txt"
            file.write_text(body)
            matches = self.done(folder, ["query", str(file.name), "--threshold", "1"], codes=(0, 1)).decode()
            if key not in documents or key not in matches:
                raise Violation(f"{key} was acknowledged, and is not there with its text")


def differences(wanted: tuple[object, ...], found: tuple[object, ...]) -> str:
    if isinstance(wanted[2], dict) and isinstance(found[2], dict):
        names = wanted[2].keys() ^ found[2].keys()
        changed = [name for name in wanted[2].keys() & found[2].keys() if wanted[2][name] != found[2][name]]
        if names or changed:
            return f"files {sorted(names)[:5]}, contents of {changed[:5]}"
    return f"stores {found[0]}, or their documents or pairs"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--kills", type=int, help="stop after so many kills, instead of after --minutes")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="only scenarios whose names contain this")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    driver = Driver(given.program.resolve(), folder, given.seed)
    end = time.monotonic() + given.minutes * 60
    chosen = [one for one in SCENARIOS if not given.only or given.only in one.name]
    counts = {name: [0, 0] for one in chosen for name in ([one.name, "serve"] if one.name == "add" else [one.name])}
    total, name = 0, ""
    try:
        while total < given.kills if given.kills else time.monotonic() < end:
            for scenario in chosen:
                name = scenario.name
                template, seconds, wanted = driver.prepare(scenario)
                for _ in range(10):
                    counts[name][0] += 1
                    counts[name][1] += driver.kill(scenario, template, seconds, wanted)
                    total += 1
                if scenario.name == "add":
                    name = "serve"
                    for _ in range(10):
                        driver.serve(template)
                        counts[name][0] += 1
                        counts[name][1] += 1
                        total += 1
    except Violation as violation:
        print(f"{name}, kill {total + 1}, seed {given.seed}: {violation}", file=sys.stderr)
        print(f"the folder: {folder / 'now'}", file=sys.stderr)
        return 1
    for name, (runs, killed) in counts.items():
        print(f"{name:24} {runs:6} runs, {killed:6} killed while running: nothing lost")
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
