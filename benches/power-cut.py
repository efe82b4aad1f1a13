#!/usr/bin/env python3
"""Cuts the power of a file system at random moments while dedupdb writes to a store in it.

    python3 benches/power-cut.py target/release/dedupdb                 # 20 cuts of ext4
    python3 benches/power-cut.py target/release/dedupdb --cuts 500 --fs xfs

It needs Linux, root, loop devices and the tools of the file system. Each turn mounts an image, runs `serve` or `add`, and
shuts the file system down by the ioctl that xfstests uses: the log in memory is lost, and from then on nothing reaches
the image. It is mounted again, which replays the log. Then `check` must find nothing, and each document that was
acknowledged, in this turn or an earlier one, must be stored with its text. The first violation ends the run.
"""

import argparse
import fcntl
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SHUTDOWN = 0x8004587D  # EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN
WITHOUT_LOG = (2).to_bytes(4, sys.byteorder)
WORDS = ["tram", "harbour", "night", "crane", "parrot", "lock", "keeper", "rain", "Sunday", "quiz"]


def text(key: str) -> str:
    source = random.Random(key)
    return " ".join(f"{source.choice(WORDS)}{source.randrange(1000)}" for _ in range(60))


def insert(key: str) -> bytes:
    return json.dumps({"op": "insert", "id": key, "key": key, "text": text(key)}).encode() + b"\n"


class Image:
    def __init__(self, folder: Path, fs: str) -> None:
        self.file, self.mount, self.fs = folder / "image", folder / "mount", fs
        self.mount.mkdir()
        self.file.touch()
        os.truncate(self.file, 400 << 20)
        subprocess.run([f"mkfs.{fs}", "-q", self.file], check=True)

    def __enter__(self) -> Path:
        subprocess.run(["mount", "-o", "loop", "-t", self.fs, self.file, self.mount], check=True)
        return self.mount

    def __exit__(self, *_: object) -> None:
        subprocess.run(["umount", self.mount], check=True)

    def cut(self) -> None:
        fcntl.ioctl(folder := os.open(self.mount, os.O_RDONLY), SHUTDOWN, WITHOUT_LOG)
        os.close(folder)


def serve(command: list, keys: list[str], image: Image, source: random.Random) -> set[str]:
    """Returns the keys that `serve` acknowledged. The power is cut while it writes the last ones."""
    child = subprocess.Popen([*command, "serve"], stdin=-1, stdout=-1, stderr=subprocess.DEVNULL)
    acknowledged: set[str] = set()
    while keys:
        some = [keys.pop() for _ in range(min(len(keys), source.randrange(1, 80)))]
        child.stdin.write(b"".join(map(insert, some)))
        child.stdin.flush()
        if not keys:
            time.sleep(source.uniform(0, 0.02))
            image.cut()
        for _ in some:
            answer = json.loads(child.stdout.readline() or b"{}")
            if "verdict" in answer:
                acknowledged.add(answer["id"])
    child.communicate()
    return acknowledged


def add(command: list, keys: list[str], image: Image, source: random.Random) -> set[str]:
    """Returns the keys if `add` ended with success. The power is cut meanwhile, or after it."""
    file = image.file.with_name("in.jsonl")
    file.write_text("".join(json.dumps({"id": key, "text": text(key)}) + "\n" for key in keys))
    child = subprocess.Popen([*command, "--quiet", "add", file], stderr=subprocess.DEVNULL)
    time.sleep(source.uniform(0, 0.2))
    image.cut()
    return set(keys) if child.wait() == 0 else set()


def verify(command: list, acknowledged: set[str]) -> None:
    subprocess.run([*command, "check"], check=True, stdout=subprocess.DEVNULL)
    asked = b"".join(map(insert, sorted(acknowledged)))
    for line in subprocess.check_output([*command, "serve"], input=asked).splitlines():
        answer = json.loads(line)
        if answer.get("verdict") != "unchanged":
            sys.exit(f"lost: {answer}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--fs", choices=["ext4", "xfs"], default="ext4")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    args = parser.parse_args()
    source, acknowledged = random.Random(args.seed), set()
    print(f"seed {args.seed}")
    with tempfile.TemporaryDirectory() as folder:
        image = Image(Path(folder), args.fs)
        command = [args.program.resolve(), "--store", image.mount / "store"]
        with image:
            subprocess.run([*command, "init"], check=True, stdout=subprocess.DEVNULL)
        for turn in range(args.cuts):
            keys = [f"{turn}-{number}" for number in range(source.randrange(1, 600))]
            with image:
                acknowledged |= [serve, add][turn % 2](command, keys, image, source)
            with image:
                verify(command, acknowledged)
    print(f"{args.cuts} cuts of {args.fs}: {len(acknowledged)} acknowledged documents, none lost")


if __name__ == "__main__":
    main()
