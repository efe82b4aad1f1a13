#!/usr/bin/env python3
"""What `dd.dedup` of `dedupdb.spark` costs, computed from what was measured: bytes of each shuffle, and core hours.

This is arithmetic, not a measurement. It takes it that costs grow with the number of documents, that a part of the
documents (--alike) is like some other, and that disks and the network keep up. The rate was measured on 340,000
documents, of which the few codes and labels are broadcast; past 4 million codes and 500,000 labels Spark moves all
sketches to them, whose bytes are counted here and whose time is not in the rate.
"""

from __future__ import annotations

import argparse

CODES = 4_000_000
"""Codes of candidates up to which sketches are chosen without moving all of them."""

LABELS = 500_000
"""Hashes of matching pairs up to which sketches are labelled without moving all of them."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=5800, help="documents a second and core (default: %(default)s)")
    parser.add_argument("--posting", type=float, default=235, help="bytes of band keys and codes a document")
    parser.add_argument("--key", type=float, default=11, help="bytes of the check for keys of several documents")
    parser.add_argument("--sketch", type=float, default=1280, help="bytes of a packed sketch")
    parser.add_argument("--name", type=float, default=66, help="bytes of a hash and a key")
    parser.add_argument("--alike", type=float, default=0.3, help="share of documents that are like another one")
    parser.add_argument("--edges", type=float, default=1.5, help="candidates a document that is like another one")
    given = parser.parse_args()
    print("| documents | band keys | sketches to choose | to compare | to judge | names | core hours |")
    print("|---|---|---|---|---|---|---|")
    for documents in (1e8, 1e9, 1e10):
        alike = documents * given.alike
        everything = documents * given.sketch
        chosen = everything if 2 * alike * given.edges > CODES else 0.0
        # One side of a pair is moved to the pair, and both to the other side.
        compared = given.sketch * (alike + alike * given.edges)
        judged = given.sketch * alike + (everything if alike > LABELS else 0.0)
        # The keys are checked; then documents are joined with what is kept and with their copies.
        names = documents * (given.key + 2 * given.name)
        cells = [documents * given.posting, chosen, compared, judged, names]
        shown = " | ".join(f"{size / 1e12:,.2f} TB" for size in cells)
        print(f"| {documents:.0e} | {shown} | {documents / given.rate / 3600:,.0f} |")


if __name__ == "__main__":
    main()
