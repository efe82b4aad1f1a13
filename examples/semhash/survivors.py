#!/usr/bin/env python3
"""Drops near-duplicates by their words with dedupdb, then those by their meaning with semhash.

    python survivors.py pages.jsonl > clean.jsonl

The embeddings are made of what dedupdb keeps, and of nothing else.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from semhash import SemHash

import dedupdb


def survivors(records: list[dict[str, Any]], model: Any = None, threshold: float = 0.9) -> list[dict[str, Any]]:
    """What both keep of records with a "text", in their order. The model is one of semhash's, its default if None."""
    kept = dedupdb.dedup(records).kept
    found = SemHash.from_records(kept, columns=["text"], model=model).self_deduplicate(threshold)
    return found.selected


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as lines:
        for record in survivors([json.loads(line) for line in lines]):
            print(json.dumps(record, ensure_ascii=False))
