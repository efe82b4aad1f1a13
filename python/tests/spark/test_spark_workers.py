"""Two worker processes, of which one is killed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from made import Truth, documents

HERE = Path(__file__).parent


def test_a_worker_that_is_killed_changes_no_answer(tmp_path: Path) -> None:
    made = documents(200, seed=5)
    truth = Truth(tmp_path, made, threshold=0.7)
    (tmp_path / "documents.json").write_text(json.dumps(made))
    command = [sys.executable, str(HERE / "on_two_workers.py"), str(tmp_path), str(tmp_path / "documents.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["killed"] == 1
    assert {tuple(pair) for pair in found["pairs"]} == truth.pairs
    assert {tuple(member) for member in found["clusters"]} == truth.connected
