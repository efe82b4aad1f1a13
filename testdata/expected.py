#!/usr/bin/env python3
"""Compute expected.tsv: all pairs of test documents with Jaccard >= 0.7.

This is a slow and simple second implementation of dedupdb's similarity. It
compares every document with every other one, without hashing or sampling, so
that the tests have an answer that does not come from the code under test.

Documents and their keys:
  * every file below folder/      key: path relative to testdata/, with "/"
  * every line of pages.jsonl     key: the field "id"
  * query.txt                     key: "query.txt"

Similarity of two texts:
  1. Normalise: NFKC, then str.lower(), then final sigma to sigma.
  2. Tokens are maximal runs of letters (L*), marks (M*), numbers (N*),
     connector punctuation (Pc) and the joiners U+200C and U+200D. A token
     character of the scripts Han, Hiragana, Katakana, Thai, Lao, Khmer or
     Myanmar is a token of its own.
  3. Shingles are the set of all runs of 5 consecutive tokens. A text with 1 to
     4 tokens has one shingle made of all its tokens. A text without tokens
     has none, and is similar to nothing.
  4. Jaccard = shared shingles / all shingles of the two texts. Identical texts
     that have tokens therefore get exactly 1.000000.

Output lines are key_a TAB key_b TAB jaccard (6 decimals), with key_a < key_b,
sorted by code point, without a header line.

Usage:
  python3 expected.py            write expected.tsv next to this script
  python3 expected.py --check    compare with expected.tsv, exit 1 if different

Needs Python 3.9 or newer, and nothing but the standard library.
"""

import json
import sys
import unicodedata
from itertools import combinations
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHINGLE = 5
LOWEST = 0.7

# Code point ranges (inclusive) of the scripts written without spaces. Only
# token characters (see is_token_char) inside these ranges count.
SINGLE = (
    (0x0E01, 0x0E3A), (0x0E40, 0x0E5B),  # Thai
    (0x0E80, 0x0EFF),  # Lao
    (0x1000, 0x109F), (0xA9E0, 0xA9FE), (0xAA60, 0xAA7F),  # Myanmar
    (0x116D0, 0x116FF),  # Myanmar Extended-C
    (0x1780, 0x17FF), (0x19E0, 0x19FF),  # Khmer
    (0x2E80, 0x2FD5),  # Han: radicals
    (0x3005, 0x3007), (0x3021, 0x3029), (0x3038, 0x303B),  # Han: marks, numerals
    (0x3041, 0x3096), (0x309D, 0x309F),  # Hiragana
    (0x30A1, 0x30FA), (0x30FC, 0x30FF), (0x31F0, 0x31FF),  # Katakana
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF),  # Han
    (0x1AFF0, 0x1AFFE), (0x1B000, 0x1B167),  # kana: rare and old letters
    (0x16FE2, 0x16FE3), (0x16FF0, 0x16FF1),  # Han: rare marks
    (0x20000, 0x323AF),  # Han: extensions B and later
)


def is_token_char(char):
    if char in "\u200c\u200d":
        return True
    category = unicodedata.category(char)
    return category[0] in "LMN" or category == "Pc"


def stands_alone(char):
    code = ord(char)
    return any(low <= code <= high for low, high in SINGLE)


def tokens(text):
    text = unicodedata.normalize("NFKC", text).lower().replace("\u03c2", "\u03c3")
    found = []
    run = []
    for char in text:
        is_token = is_token_char(char)
        alone = is_token and stands_alone(char)
        if is_token and not alone:
            run.append(char)
            continue
        if run:
            found.append("".join(run))
            run = []
        if alone:
            found.append(char)
    if run:
        found.append("".join(run))
    return found


def shingles(text):
    words = tokens(text)
    if not words:
        return frozenset()
    if len(words) < SHINGLE:
        return frozenset([tuple(words)])
    return frozenset(
        tuple(words[i:i + SHINGLE]) for i in range(len(words) - SHINGLE + 1)
    )


def jaccard(a, b):
    if not a or not b:
        return 0.0
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)


def read_text(path):
    # Bytes first: no newline translation, and an error for invalid UTF-8.
    return path.read_bytes().decode("utf-8")


def documents():
    found = {}

    def add(key, text):
        if key in found:
            raise SystemExit(f"key used twice: {key}")
        found[key] = text

    for path in (HERE / "folder").rglob("*"):
        if path.is_file():
            add(path.relative_to(HERE).as_posix(), read_text(path))
    for line in read_text(HERE / "pages.jsonl").split("\n"):
        if line.strip():
            record = json.loads(line)
            add(record["id"], record["text"])
    add("query.txt", read_text(HERE / "query.txt"))
    return found


def pairs():
    sets = {key: shingles(text) for key, text in documents().items()}
    for key_a, key_b in combinations(sorted(sets), 2):
        value = jaccard(sets[key_a], sets[key_b])
        if value >= LOWEST:
            yield key_a, key_b, value


def main(arguments):
    if arguments not in ([], ["--check"]):
        raise SystemExit("usage: expected.py [--check]")
    text = "".join(f"{a}\t{b}\t{value:.6f}\n" for a, b, value in pairs())
    target = HERE / "expected.tsv"
    if not arguments:
        target.write_bytes(text.encode("utf-8"))
    elif not target.is_file() or read_text(target) != text:
        raise SystemExit("expected.tsv is out of date: run expected.py")


if __name__ == "__main__":
    main(sys.argv[1:])
