#!/usr/bin/env python3
"""Pairs of near-duplicates with Spark: `dedupdb map`, a shuffle, `dedupdb reduce`.

Input is anything that `sc.textFile` reads: JSON objects one a line with "id" and "text". Output is
a folder of text files with lines ID_A, ID_B, JACCARD and tabs between them, each pair once.
"""

import argparse
import os
import shlex
import zlib

from pyspark import SparkConf, SparkContext


def place(key):
    """A number for a key, the same on every machine."""
    return zlib.crc32(key.encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input", help="a file, folder or pattern, as sc.textFile takes it")
    parser.add_argument("output", help="a folder that does not exist")
    parser.add_argument("--dedupdb", default="dedupdb", help="the program, there on all machines")
    parser.add_argument("--options", default="", help="for map and reduce: '--threshold 0.9'")
    parser.add_argument("--partitions", type=int, help="of input and shuffle, at least")
    arguments = parser.parse_args()

    options = shlex.split(arguments.options)
    # One thread each: Spark runs as many of them as there are cores.
    common = ["--quiet", "--threads", "1", *options]
    mapper = shlex.join([arguments.dedupdb, "map", *common])
    reducer = shlex.join([arguments.dedupdb, "reduce", *common])

    # Without this, programs get no environment at all, and are not found.
    environment = {"PATH": os.environ.get("PATH", os.defpath)}

    sc = SparkContext(conf=SparkConf().setAppName("dedupdb pairs"))
    partitions = arguments.partitions or 4 * sc.defaultParallelism
    shuffled = sc.accumulator(0)

    def key_and_value(line):
        """The key and the value of a line, as Hadoop Streaming takes them apart."""
        shuffled.add(len(line.encode()) + 1)
        key, _, value = line.partition("\t")
        return key, value

    pairs = (
        sc.textFile(arguments.input, partitions)
        .pipe(mapper, environment, checkCode=True)
        .map(key_and_value)
        .repartitionAndSortWithinPartitions(partitions, place)
        .map("\t".join)
        .pipe(reducer, environment, checkCode=True)
    )
    pairs.saveAsTextFile(arguments.output)
    print(f"shuffled {shuffled.value} bytes of keys and values")
    sc.stop()


if __name__ == "__main__":
    main()
