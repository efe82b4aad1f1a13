#!/usr/bin/env python3
"""Plants benchmark items into a corpus, and prints which `dedupdb decontaminate` finds, and its time beside `add`.

    cargo build --release && benches/decontaminate.py CORPUS.jsonl --seed 1 [--decon PROGRAM]

With the program of decon (allenai/decon, a release build), it prints what that finds by default and its time, in turns
with the others. Each item is a question without an answer there.

Every 17th document of the corpus (fields `id` and `text`) is a source of items; the others are the clean set. Of 2,000
items of 8 to 120 words in two fields, a seventh in scripts without spaces, 1,000 are nowhere. The others are planted
into documents of the clean set: whole, with other white space, case and punctuation, with one word of twelve
replaced, or in documents of more than 5,000 words. No item shares 8 words in a row with the clean set. The script has
its own rules for words, which are not those of the program in all scripts.
"""

import argparse
import json
import random
import resource
import statistics
import subprocess
import tempfile
import time
import unicodedata
from collections import defaultdict
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
KINDS = ["whole", "wrapped", "replaced", "long"]
SPACELESS = [(0x3040, 0x30FF), (0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF)]


def is_spaceless(char: str) -> bool:
    return any(first <= ord(char) <= last for first, last in SPACELESS)


def is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M"


def is_letter(char: str) -> bool:
    return char.isalnum() or char == "_"


def places(text: str) -> list[tuple[int, int]]:
    """Where words begin and end; a character of a script without spaces is one, with its marks."""
    found, at = [], 0
    while at < len(text):
        end = at + 1
        if not (is_letter(text[at]) or is_mark(text[at])):
            at = end
            continue
        joins = not is_spaceless(text[at])
        while end < len(text):
            is_next = joins and is_letter(text[end]) and not is_spaceless(text[end])
            if not (is_next or is_mark(text[end])):
                break
            end += 1
        found.append((at, end))
        at = end
    return found


def runs(words: list[str]) -> set[int]:
    """The hashes of runs of 8 words."""
    return {hash(tuple(words[at : at + 8])) for at in range(len(words) - 7)}


class Source:
    """A text that items are taken from."""

    def __init__(self, text: str) -> None:
        self.text, self.places = text, places(text)
        self.words = [unicodedata.normalize("NFKC", text[a:b]).lower() for a, b in self.places]
        self.is_spaceless = sum(is_spaceless(text[a]) for a, _ in self.places) > 0.7 * len(self.places)


def wrapped(text: str, rng: random.Random) -> str:
    """The words of a text with other case, white space and punctuation."""
    parts, end = [], 0
    for a, b in places(text):
        is_run = parts and is_spaceless(text[a]) and is_spaceless(text[end - 1])
        if parts:
            parts.append(rng.choice(["", "", "\n", "、"] if is_run else [" ", "\n", "  ", ", ", "; ", " - "]))
        parts.append(text[a:b].upper() if rng.random() < 0.2 else text[a:b])
        end = b
    return "".join(parts)


def replaced(text: str, others: list[str], rng: random.Random) -> str:
    """A text with one word of twelve replaced."""
    words = places(text)
    for a, b in sorted(rng.sample(words, max(1, round(len(words) / 12))), reverse=True):
        text = text[:a] + rng.choice(others) + text[b:]
    return text


def planted(corpus: Path, folder: Path, seed: int) -> dict[tuple[str, str], dict]:
    """Writes train.jsonl and bench.jsonl, and returns the items by key and field."""
    rng = random.Random(seed)
    with corpus.open() as file:
        documents = [json.loads(line) for line in file]
    clean = [document for number, document in enumerate(documents) if number % 17]
    shared = set()
    lengths = []
    for document in clean:
        source = Source(document["text"])
        lengths.append(len(source.words))
        shared |= runs(source.words)
    sources = [Source(document["text"]) for document in documents[::17]]
    sources = {kind: [it for it in sources if it.is_spaceless == kind and len(it.words) > 7] for kind in (True, False)}
    others = {kind: [word for it in sources[kind] for word in it.words] for kind in (True, False)}
    items = []
    while len(items) < 2000:
        source = rng.choice(sources[len(items) % 7 == 0])
        count = rng.choice([rng.randint(8, 12), rng.randint(13, 24), rng.randint(25, 49), rng.randint(50, 120)])
        if len(source.words) < count:
            continue
        first = rng.randint(0, len(source.words) - count)
        own = runs(source.words[first : first + count])
        if own & shared:
            continue
        shared |= own
        text = source.text[source.places[first][0] : source.places[first + count - 1][1]]
        kind = KINDS[len(items) // 2 % 4] if len(items) % 2 else "nowhere"
        items.append({"text": text, "words": count, "kind": kind, "spaceless": source.is_spaceless, "in": None})
    hosts = {"long": [], "other": []}
    for number, words in enumerate(lengths):
        hosts["long" if words > 5000 else "other"].append(number)
    rng.shuffle(hosts["other"])
    plants = defaultdict(list)
    for item in items:
        if item["kind"] == "nowhere":
            continue
        host = rng.choice(hosts["long"]) if item["kind"] == "long" else hosts["other"].pop()
        item["in"] = clean[host]["id"]
        text = item["text"]
        if item["kind"] == "wrapped":
            text = wrapped(text, rng)
        elif item["kind"] == "replaced":
            text = replaced(text, others[item["spaceless"]], rng)
        plants[host].append((rng.random(), text))
    for host, texts in plants.items():
        lines = clean[host]["text"].split("\n")
        for place, text in texts:
            lines.insert(round(place * len(lines)), text)
        clean[host]["text"] = "\n".join(lines)
    with (folder / "train.jsonl").open("w") as file:
        file.writelines(json.dumps(document, ensure_ascii=False) + "\n" for document in clean)
    rng.shuffle(items)
    by_name = {}
    with (folder / "bench.jsonl").open("w") as file:
        for number in range(0, len(items), 2):
            row = {"id": str(number), "question": items[number]["text"], "answer": items[number + 1]["text"]}
            by_name[row["id"], "question"], by_name[row["id"], "answer"] = items[number], items[number + 1]
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return by_name


def timed(command: list[str], log: IO[str] | None = None) -> tuple[float, float]:
    """The wall time and the processor time of a program."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, stdout=log, stderr=log)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - begin, sum(after[:2]) - sum(before[:2])


def decon(program: str, folder: Path, items: dict[tuple[str, str], dict]) -> list[str]:
    """Writes what decon reads, and returns its command."""
    training, evals = folder / "training", folder / "evals"
    training.mkdir()
    evals.mkdir()
    (training / "train.jsonl").symlink_to(folder / "train.jsonl")
    with (evals / "items.jsonl").open("w") as file:
        for number, item in enumerate(items.values()):
            row = {"eval_key": "items", "eval_instance_index": number, "split": "test", "doc_id": number}
            row |= {"question": item["text"], "answer": "", "is_correct": True, "fingerprint": str(number)}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    report = str(folder / "report")
    return [program, "detect", "--training-dir", str(training), "--evals-dir", str(evals), "--report-output-dir", report]


def found_by_decon(folder: Path, items: dict[tuple[str, str], dict]) -> tuple[int, int]:
    """How many items decon found where they are, and how many elsewhere."""
    with (folder / "train.jsonl").open() as file:
        ids = [json.loads(line)["id"] for line in file]
    places = [item["in"] for item in items.values()]
    in_place, false = set(), set()
    for report in (folder / "report").rglob("*.jsonl"):
        with report.open() as file:
            for hit in map(json.loads, file):
                item, document = hit["eval_instance_index"], ids[hit["training_line"]]
                if places[item] == document:
                    in_place.add(item)
                else:
                    false.add((item, document))
    return len(in_place), len(false)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--program", default=str(ROOT / "target/release/dedupdb"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--decon")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        items = planted(asked.corpus, folder, asked.seed)
        train, bench, hits = (str(folder / name) for name in ("train.jsonl", "bench.jsonl", "hits.jsonl"))
        fields = ["--against-field", "question", "--against-field", "answer"]
        find = [asked.program, "-q", "decontaminate", train, "--against", bench, *fields, "--hits", hits, "--force"]
        times = defaultdict(list)
        other = decon(asked.decon, folder, items) if asked.decon else None
        for turn in range(3):
            if other:
                with (folder / "decon.log").open("w") as log:
                    times["decon"].append(timed(other, log))
            times["decontaminate"].append(timed(find))
            times["add"].append(timed([asked.program, "-q", "--store", str(folder / f"store{turn}"), "add", train]))
        with Path(hits).open() as file:
            found = [json.loads(line) for line in file]
        if other:
            print("decon: {} items found, {} in other documents".format(*found_by_decon(folder, items)))
    in_place, false = set(), set()
    for hit in found:
        name = hit["item"], hit["field"]
        if items[name]["in"] == hit["document"]:
            in_place.add(name)
        else:
            false.add((hit["document"], items[name]["text"][:60]))
    rows = defaultdict(lambda: [0, 0])
    for name, item in items.items():
        if item["kind"] == "nowhere":
            continue
        kind = "replaced" if item["kind"] == "replaced" else "unbroken"
        lengths = [(12, "8-12"), (24, "13-24"), (49, "25-49"), (120, "50-120")]
        length = next(text for most, text in lengths if item["words"] <= most)
        if name not in in_place and kind == "unbroken":
            print("not found:", item["kind"], item["text"][:100].replace("\n", " "))
        for row in [(kind, length), (kind, "without spaces")][: 1 + item["spaceless"]]:
            rows[row][0] += name in in_place
            rows[row][1] += 1
    for (kind, length), (count, of) in sorted(rows.items()):
        print(f"{kind:10}{length:16}{count:5} of {of:4}  {count / of:.1%}")
    print(f"items in other documents: {len(false)}", *sorted(false), sep="\n  ")
    for what, seconds in times.items():
        wall, used = (statistics.median(column) for column in zip(*seconds, strict=True))
        print(f"{what:15}{wall:6.2f} s, {used:.2f} s of the processors (medians of 3, in turns)")


if __name__ == "__main__":
    main()
