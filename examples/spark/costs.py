#!/usr/bin/env python3
"""What a run of `dedupdb.spark` costs, computed from rates that were measured: bytes of each shuffle, core hours.

This is arithmetic, not a measurement: it takes it that costs grow with the number of documents, that a part of the
documents (--alike) is like some other, and that disks and the network keep up.
"""

from __future__ import annotations

import argparse


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, required=True, help="documents a second and core, of dd.dedup")
    parser.add_argument(
        "--posting", type=float, default=235, help="bytes of band keys and codes a document, as written"
    )
    parser.add_argument("--key", type=float, default=11, help="bytes of the check for keys of several documents")
    parser.add_argument("--sketch", type=float, default=1280, help="bytes of a packed sketch, as written")
    parser.add_argument("--name", type=float, default=66, help="bytes of a hash and a key, as written")
    parser.add_argument("--alike", type=float, default=0.3, help="share of documents that are like another one")
    parser.add_argument("--edges", type=float, default=1.5, help="candidates a document that is like another one")
    given = parser.parse_args()
    print("| documents | band keys | sketches to compare | names | core hours |")
    print("|---|---|---|---|---|")
    for documents in (1e8, 1e9, 1e10):
        compared = documents * given.alike
        sketches = given.sketch * (compared + compared * given.edges)
        names = documents * (given.name + given.key)
        cells = [documents * given.posting, sketches, names]
        shown = " | ".join(f"{size / 1e9:,.0f} GB" for size in cells)
        print(f"| {documents:.0e} | {shown} | {documents / given.rate / 3600:,.0f} |")


if __name__ == "__main__":
    main()
