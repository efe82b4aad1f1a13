"""A step for datatrove that drops documents which resemble one that a store has, and stores the others.

    LocalPipelineExecutor([JsonlReader("pages"), Unseen("seen"), JsonlWriter("new")], tasks=4, workers=2).run()

Tasks in several processes may share a store on one machine: they write by turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from datatrove.data import Document
from datatrove.pipeline.base import PipelineStep

import dedupdb


class Unseen(PipelineStep):
    name = "dedupdb"
    type = "DEDUP"

    def __init__(self, path: str, batch: int = 1000, **parameters: Any) -> None:
        super().__init__()
        self.path, self.batch, self.parameters = path, batch, parameters

    def run(self, data: Iterable[Document], rank: int = 0, world_size: int = 1) -> Iterator[Document]:
        documents = iter(data)
        with dedupdb.open(self.path, wait="1h", **self.parameters) as store:
            while batch := list(islice(documents, self.batch)):
                rows = [{"id": document.id, "text": document.text} for document in batch]
                # One commit for the batch. Documents whose id is stored with the same text count as seen.
                for document, verdict in zip(batch, store.insert(rows), strict=True):
                    is_new = verdict["verdict"] in ("added", "updated")
                    self.stat_update("forwarded" if is_new else "dropped")
                    if is_new:
                        yield document
