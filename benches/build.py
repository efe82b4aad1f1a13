#!/usr/bin/env python3
"""Prints what a build from nothing costs: time, the crates that take most of it, and the size of the program.

    benches/build.py                          # as `cargo install` builds it
    benches/build.py --package dedupdb       # the store alone
    benches/build.py --tests                  # what `cargo test` builds

Other arguments go to cargo. The build is in a temporary folder. Processor time is that of all processes; it depends on
other work of the machine far less than wall time does.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOG = "DEDUPDB_BUILD_LOG"
SHOWN = 12


def processor_time() -> float:
    """Seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compile_one(log: Path, command: list[str]) -> int:
    """Runs a compiler in place of cargo, and notes its processor time if it is for a crate."""
    code = subprocess.run(command, close_fds=False).returncode
    if crate := os.environ.get("CARGO_PKG_NAME"):
        with log.open("a") as file:
            file.write(f"{processor_time():.3f}\t{crate}\n")
    return code


def build(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log, target = Path(folder, "log"), Path(folder, "target")
        verb = ["test", "--no-run"] if "--tests" in arguments else ["build", "--release"]
        rest = [argument for argument in arguments if argument != "--tests"]
        environment = os.environ | {LOG: str(log), "RUSTC_WRAPPER": __file__, "CARGO_TARGET_DIR": str(target)}
        started = time.monotonic()
        subprocess.run(["cargo", *verb, "--locked", "--quiet", *rest], cwd=ROOT, env=environment, check=True)
        wall, total = time.monotonic() - started, processor_time()
        crates = Counter()
        for line in log.read_text().splitlines():
            seconds, crate = line.split("\t")
            crates[crate] += float(seconds)
        program = target / "release" / "dedupdb"
        size = program.stat().st_size if program.exists() else None

    print("| What | Measured |\n|---|---|")
    print(f"| crates | {len(crates)} |")
    print(f"| processor time | {total:.0f} s |")
    print(f"| wall time, {os.cpu_count()} cores | {wall:.0f} s |")
    if size is not None:
        print(f"| size of the program | {size / 1e6:.1f} MB |")
    print("\n| Crate | Processor time |\n|---|---|")
    for crate, seconds in crates.most_common(SHOWN):
        print(f"| {crate} | {seconds:.1f} s |")
    others = sum(crates.values()) - sum(seconds for _, seconds in crates.most_common(SHOWN))
    print(f"| all other crates | {others:.1f} s |")
    print(f"| C code and build scripts | {total - sum(crates.values()):.1f} s |")


if __name__ == "__main__":
    if LOG in os.environ:
        sys.exit(compile_one(Path(os.environ[LOG]), sys.argv[1:]))
    build(sys.argv[1:])
