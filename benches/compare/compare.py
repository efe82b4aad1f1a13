#!/usr/bin/env python3
"""Sets dedupdb beside datasketch, rensa, gaoya, txtfp and FastSketchLSH on a corpus of yours.

    python compare.py CORPUS.jsonl

CORPUS.jsonl holds a document a line, an object with the fields "id" (unique) and "text". Every
document is inserted, then every document is queried once. Prints Markdown. See README.md beside
this file for what is measured and what is not.

Each row of the tables is measured in processes of its own, so that neither imports nor memory mix.
This file starts itself for that (--worker, which reads its orders from standard input). The first
process holds next to nothing itself: a child's peak memory begins at what its parent held.
"""

import argparse
import contextlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

CHUNK = 2048  # documents handed to a peer at once: its batch calls pay off, shingles stay few
SEED = 42
STAGES = ("read", "shingle", "sign", "insert", "query", "verify")

# --- The rows ---------------------------------------------------------------------------------

# name: (peer as in --peers, module, distribution, what it does)
ROWS = {
    "dedupdb": ("dedupdb", None, None, "durable on disk; every candidate verified by exact Jaccard, while adding too"),
    "dedupdb, pairs": ("dedupdb", None, None, "the same; all pairs are listed from the store, the corpus is read once"),
    "dedupdb, own default": ("dedupdb", None, None, "`add` and `query` with the bands that plain `init` chooses"),
    "datasketch": ("datasketch", "datasketch", "datasketch", "in memory; candidates, unverified"),
    "rensa": ("rensa", "rensa", "rensa", "in memory; candidates, unverified"),
    "rensa, rho": ("rensa", "rensa", "rensa", "in memory; flags documents, names no pairs"),
    "gaoya": ("gaoya", "gaoya", "gaoya", "in memory; candidates filtered by estimate"),
    "gaoya, own tokens": ("gaoya", "gaoya", "gaoya", "the same, words cut by gaoya: other shingles"),
    "fastsketchlsh": ("fastsketchlsh", "FastSketchLSH", "FastSketchLSH", "in memory; candidates, unverified"),
    "gaoya, Rust": ("gaoya", None, None, "the crate: in memory; candidates filtered by estimate"),
    "txtfp, Rust": ("txtfp", None, None, "the crate: in memory; candidates, unverified"),
}
RUST = [row for row in ROWS if row.endswith(", Rust")]
PEERS = list(dict.fromkeys(row[0] for row in ROWS.values()))


def shingles(text):
    """The distinct word 5-shingles in the order in which they are met; below 5 words, one shingle."""
    words = re.findall(r"\w+", text.lower())
    if len(words) < 5:
        return [" ".join(words)]
    return list(dict.fromkeys(map(" ".join, zip(words, words[1:], words[2:], words[3:], words[4:]))))


class Clock:
    """Seconds by stage."""

    def __init__(self):
        self.seconds = {}

    @contextlib.contextmanager
    def __call__(self, stage):
        start = time.perf_counter()
        yield
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start


def texts_by_chunk(path, clock):
    """The texts of the corpus, CHUNK at a time. Reading and parsing are clocked, the pauses not."""
    with open(path, "rb") as lines:
        while True:
            with clock("read"):
                chunk = []
                for line in lines:
                    if not line.isspace():
                        chunk.append(json.loads(line)["text"])
                        if len(chunk) == CHUNK:
                            break
            if not chunk:
                return
            yield chunk


def shingles_by_chunk(order, clock, kept):
    """The shingles of the documents, CHUNK at a time; as sets in `kept` too if there is to verify."""
    for chunk in texts_by_chunk(order["corpus"], clock):
        with clock("shingle"):
            chunk = [shingles(text) for text in chunk]
        if order["verify"]:
            with clock("verify"):
                kept.extend(map(frozenset, chunk))
        yield chunk


class Pairs:
    """Takes the answers of the queries, unclocked, and writes the pairs out: two numbers a line."""

    def __init__(self, order):
        self.file = open(order["pairs"], "w", encoding="ascii")
        self.order = order

    def take(self, first, answers):
        for query, keys in enumerate(answers, first):
            self.file.writelines(f"{min(query, key)}\t{max(query, key)}\n" for key in keys if key != query)

    def close(self, clock, kept):
        """Closes the file. With --verify, leaves what exact Jaccard confirms."""
        self.file.close()
        if not self.order["verify"]:
            return
        with open(self.order["pairs"], encoding="ascii") as lines:
            pairs = sorted({tuple(map(int, line.split())) for line in lines})
        with clock("verify"):
            found = []
            for a, b in pairs:
                common = len(kept[a] & kept[b])
                if common >= self.order["threshold"] * (len(kept[a]) + len(kept[b]) - common):
                    found.append((a, b))
        with open(self.order["pairs"], "w", encoding="ascii") as out:
            out.writelines(f"{a}\t{b}\n" for a, b in found)


def run_datasketch(order, clock):
    """MinHash.generator (what MinHash.bulk is made of), default scheme and hash function."""
    from datasketch import MinHash, MinHashLSH

    lsh = MinHashLSH(num_perm=order["permutations"], params=(order["bands"], order["rows"]))
    minhashes, kept, pairs = [], [], Pairs(order)
    for chunk in shingles_by_chunk(order, clock, kept):
        with clock("sign"):
            encoded = ([shingle.encode() for shingle in document] for document in chunk)
            new = list(MinHash.generator(encoded, num_perm=order["permutations"], seed=SEED))
        with clock("insert"):
            for key, minhash in enumerate(new, len(minhashes)):
                lsh.insert(key, minhash, check_duplication=False)
        minhashes += new
    for first in range(0, len(minhashes), CHUNK):
        with clock("query"):
            answers = [lsh.query(minhash) for minhash in minhashes[first : first + CHUNK]]
        pairs.take(first, answers)
    pairs.close(clock, kept)


def run_rensa(order, clock):
    """RMinHash.from_token_sets, RMinHashLSH.insert_many and query_all: the batch calls for pairs."""
    from rensa import RMinHash, RMinHashLSH

    lsh = RMinHashLSH(threshold=order["threshold"], num_perm=order["permutations"], num_bands=order["bands"])
    minhashes, kept, pairs = [], [], Pairs(order)
    for chunk in shingles_by_chunk(order, clock, kept):
        with clock("sign"):
            new = RMinHash.from_token_sets(chunk, num_perm=order["permutations"], seed=SEED)
        with clock("insert"):
            lsh.insert_many(new, len(minhashes))
        minhashes += new
    for first in range(0, len(minhashes), CHUNK):
        with clock("query"):
            answers = lsh.query_all(minhashes[first : first + CHUNK])
        pairs.take(first, answers)
    pairs.close(clock, kept)


def run_rensa_rho(order, clock):
    """The pipeline of rensa's own benchmark: a rho matrix and one-shot flags. It wants all documents
    in one call, so all shingles are in memory. Nothing is left to query afterwards."""
    from rensa import RMinHash, RMinHashLSH

    documents = []
    order = dict(order, verify=False)  # there are no pairs to verify
    for chunk in shingles_by_chunk(order, clock, None):
        documents += chunk
    with clock("sign"):
        matrix = RMinHash.digest_matrix_from_token_sets_rho(documents, num_perm=order["permutations"], seed=SEED)
    with clock("insert"):
        lsh = RMinHashLSH(threshold=order["threshold"], num_perm=order["permutations"], num_bands=order["bands"])
        flags = lsh.query_duplicate_flags_matrix_one_shot(matrix)
    with open(order["pairs"], "w", encoding="ascii") as out:
        out.writelines(f"{key}\n" for key, flag in enumerate(flags) if flag)


def gaoya_index(order):
    from gaoya.minhash import MinHashStringIndex

    return MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=order["threshold"],
        num_bands=order["bands"],
        band_size=order["rows"],
        analyzer="word",
        lowercase=True,
        ngram_range=(5, 5),
        id_container="smallvec",
    )


def run_gaoya(order, clock):
    """Shingles made here, as for the others, given to the parallel bulk calls for tokens. The class
    for Python has them behind `minhash_index` only; its own call for tokens works in one thread.
    gaoya hands out no signatures: insert signs, and query signs again (shingles are cut a second
    time for that, unclocked)."""
    index = gaoya_index(order).minhash_index
    kept, pairs = [], Pairs(order)
    count = 0
    for chunk in shingles_by_chunk(order, clock, kept):
        with clock("insert"):
            index.par_bulk_insert_tokens(list(range(count, count + len(chunk))), chunk)
        count += len(chunk)
    for number, texts in enumerate(texts_by_chunk(order["corpus"], Clock())):
        chunk = [shingles(text) for text in texts]
        with clock("query"):
            answers = index.par_bulk_query_tokens(chunk)
        pairs.take(number * CHUNK, answers)
    pairs.close(clock, kept)


def run_gaoya_tokens(order, clock):
    """gaoya's documented bulk calls: its words end at ASCII punctuation and ASCII spaces only, and a
    text of fewer than 5 of them has no shingle at all. insert and query tokenize and sign."""
    index = gaoya_index(order)
    kept, pairs = [], Pairs(order)
    count = 0
    for chunk in texts_by_chunk(order["corpus"], clock):
        with clock("insert"):
            index.par_bulk_insert_docs(list(range(count, count + len(chunk))), chunk)
        count += len(chunk)
        if order["verify"]:
            with clock("verify"):
                kept.extend(frozenset(shingles(text)) for text in chunk)
    for number, chunk in enumerate(texts_by_chunk(order["corpus"], Clock())):
        with clock("query"):
            answers = index.par_bulk_query(chunk)
        pairs.take(number * CHUNK, answers)
    pairs.close(clock, kept)


def run_fastsketchlsh(order, clock):
    """FastSimilaritySketch.batch on lists of strings, LSH.insert and LSH.query of whole matrices."""
    from FastSketchLSH import LSH, FastSimilaritySketch

    sketcher = FastSimilaritySketch(size=order["permutations"], seed=SEED)
    lsh = LSH(num_perm=order["permutations"], num_bands=order["bands"])
    sketches, kept, pairs = [], [], Pairs(order)
    for chunk in shingles_by_chunk(order, clock, kept):
        with clock("sign"):
            new = sketcher.batch(chunk)
        with clock("insert"):
            lsh.insert(new)
        sketches.append(new)
    for number, matrix in enumerate(sketches):
        with clock("query"):
            flat, starts = lsh.query(matrix, format="csr")
        flat, starts = flat.tolist(), starts.tolist()
        pairs.take(number * CHUNK, (flat[a:b] for a, b in zip(starts, starts[1:])))
    pairs.close(clock, kept)


RUN = {
    "datasketch": run_datasketch,
    "rensa": run_rensa,
    "rensa, rho": run_rensa_rho,
    "gaoya": run_gaoya,
    "gaoya, own tokens": run_gaoya_tokens,
    "fastsketchlsh": run_fastsketchlsh,
}

# --- Work done in other processes ---------------------------------------------------------------


def work_row(order):
    clock = Clock()
    RUN[order["row"]](order, clock)
    return {"stages": clock.seconds}


def work_inspect(order):
    """Reads the corpus once: is it sound, how large is it? It is in the page cache from here on."""
    seen, size, few, plain = set(), 0, 0, True
    with open(order["corpus"], "rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.isspace():
                continue
            try:
                record = json.loads(line)
                key, text = record["id"], record["text"]
                if not isinstance(key, str) or not isinstance(text, str):
                    raise TypeError
            except (ValueError, KeyError, TypeError):
                return {"error": f'line {number} of the corpus is no object with the strings "id" and "text"'}
            if key in seen:
                return {"error": f"line {number} of the corpus has an id that was there before: {key!r}"}
            seen.add(key)
            size += len(text.encode("utf-8", "replace"))
            few += len(re.findall(r"\w+", text)) < 5
            plain = plain and key.isprintable() and "\\" not in key
    if order["truth"]:
        # Measuring takes minutes: what cannot be scored is not measured.
        try:
            true_pairs(order, dict.fromkeys(seen, 0))
        except ValueError as error:
            return {"error": f"{order['truth']}: {error}"}
    return {"documents": len(seen), "bytes": size, "short": few, "plain": plain}


def true_pairs(order, number_of):
    """The pairs of numbers that the truth has from the threshold on."""
    pairs = set()
    with open(order["truth"], encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                a, b, *rest = line.rstrip("\n").split("\t")
                (jaccard,) = rest or (1.0,)
                is_pair = float(jaccard) >= order["threshold"]
            except ValueError:
                raise ValueError(f"line {number} is not two ids and a similarity, with tabs between them") from None
            for key in (a, b):
                if key not in number_of:
                    raise ValueError(f"line {number} has an id that the corpus has not: {key!r}")
            if is_pair:
                pairs.add(tuple(sorted((number_of[a], number_of[b]))))
    return pairs


def share(part, whole):
    return len(part) / len(whole) if whole else None


def work_score(order):
    """Counts the answers of every row, and compares them with the truth."""
    with open(order["corpus"], "rb") as lines:
        number_of = {json.loads(line)["id"]: n for n, line in enumerate(line for line in lines if not line.isspace())}
    truth = None
    if order["truth"]:
        truth = true_pairs(order, number_of)
        true_documents = {key for pair in truth for key in pair}
    scores = {}
    for row, path in order["answers"].items():
        pairs = set()
        flagged = None
        with open(path, encoding="utf-8") as lines:
            if row.startswith("dedupdb"):
                for line in lines:
                    if order["plain"]:
                        a, b = line.split("\t", 2)[:2]
                    else:
                        found = json.loads(line)
                        a, b = (found[name] for name in (("key_a", "key_b") if "key_a" in found else ("query", "key")))
                    pairs.add(tuple(sorted((number_of[a], number_of[b]))))
            elif row == "rensa, rho":
                flagged = set(map(int, lines))
            else:
                pairs = {tuple(map(int, line.split())) for line in lines}
        score = {}
        if flagged is None:
            flagged = {key for pair in pairs for key in pair}
            score["pairs"] = len(pairs)
            if truth is not None:
                score["precision"] = share(pairs & truth, pairs)
                score["recall"] = share(pairs & truth, truth)
        score["flagged"] = len(flagged)
        if truth is not None:
            score["flag precision"] = share(flagged & true_documents, flagged)
            score["flag recall"] = share(flagged & true_documents, true_documents)
        scores[row] = score
    counts = {"pairs": len(truth), "flagged": len(true_documents)} if truth is not None else None
    return {"scores": scores, "truth": counts}


def worker():
    order = json.load(sys.stdin)
    work = {"row": work_row, "inspect": work_inspect, "score": work_score}[order["work"]]
    result = work(order)
    with open(order["result"], "w", encoding="utf-8") as out:
        json.dump(result, out)


# --- The first process --------------------------------------------------------------------------


class Failed(Exception):
    pass


def measured(command, *, stdin=None, stdout=subprocess.DEVNULL, env=None, codes=(0,)):
    """Runs a process to its end. Returns its seconds and the most memory it had, in bytes."""
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        child = subprocess.Popen(
            command, stdin=subprocess.PIPE if stdin else subprocess.DEVNULL, stdout=stdout, stderr=errors, env=env
        )
        if stdin:
            with contextlib.suppress(BrokenPipeError), child.stdin:
                child.stdin.write(stdin)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in codes:
            errors.seek(0)
            said = errors.read().decode("utf-8", "replace").strip().splitlines()
            raise Failed(said[-1] if said else f"ended with {child.returncode}")
    return seconds, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def in_worker(work, folder, env=None, **order):
    order = dict(order, work=work, result=os.path.join(folder, "result.json"))
    worker = [rust_peers()] if order.get("row") in RUST else [sys.executable, os.path.abspath(__file__), "--worker"]
    _, memory = measured(worker, stdin=json.dumps(order).encode(), env=env)
    with open(order["result"], encoding="utf-8") as result:
        result = json.load(result)
    if "error" in result:
        raise Failed(result["error"])
    return result, memory


def run_dedupdb(row, args, folder, answers, plain):
    """One store, from nothing to the answers. `add` reads, shingles, signs, inserts, verifies and
    commits; `query` reads, shingles and signs the same file again, looks up and verifies. `pairs` finds
    and verifies all pairs in the store."""
    store = os.path.join(folder, "store")
    command = [args.dedupdb, "--store", store, "--quiet"]
    if args.threads:
        command += ["--threads", str(args.threads)]
    init = [*command, "init", "--threshold", str(args.threshold)]
    if row != "dedupdb, own default":
        init += ["--bands", f"{args.bands}x{args.rows}", "--permutations", str(args.permutations)]
    try:
        made, _ = measured(init)
        added, memory_add = measured([*command, "add", "--format", "jsonl", "--", args.corpus])
        with open(answers, "wb") as out:
            extra = [] if plain else ["--json"]
            asked = ["pairs"] if row == "dedupdb, pairs" else ["query", "--format", "jsonl", "--", args.corpus]
            queried, memory_query = measured([*command, *extra, *asked], stdout=out, codes=(0, 1))
        # What the file system gave, as holes take no place; Windows has no such count.
        sizes = [os.stat(os.path.join(d, f)) for d, _, files in os.walk(store) for f in files]
        disk = sum(getattr(s, "st_blocks", s.st_size / 512) * 512 for s in sizes)
        shown = subprocess.run([*command, "--json", "stats"], capture_output=True, text=True, check=False).stdout
    finally:
        shutil.rmtree(store, ignore_errors=True)
    bands = re.search(r'"bands"\s*:\s*"?(\d+x\d+)', shown)
    return {
        "stages": {"add": made + added, "query": queried},
        "memory": max(memory_add, memory_query),
        "disk": disk,
        "bands": bands[1] if bands else None,
    }


def rust_peers():
    """The program with the crates, if it was built."""
    built = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rust", "target", "release", "peers")
    return shutil.which(built)


def rust_versions():
    """Of the crates, from the lock file that they are built with."""
    lock = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rust", "Cargo.lock")
    with open(lock, "rb") as file:
        packages = tomllib.load(file)["package"]
    return [f"{package['name']} {package['version']} (crate)" for package in packages if package["name"] in ("gaoya", "txtfp")]


def find_dedupdb(given):
    if given:
        return shutil.which(given)
    built = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "target", "release", "dedupdb")
    return shutil.which("dedupdb") or shutil.which(built)


def processor():
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def table(head, rows):
    rows = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    words = {0, *(n for n, name in enumerate(head) if name == "does")}
    lines = [[c.ljust(w) if n in words else c.rjust(w) for n, (c, w) in enumerate(zip(row, widths))] for row in rows]
    lines.insert(1, ["-" * w if n in words else "-" * (w - 1) + ":" for n, w in enumerate(widths)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def bold(text, lost):
    """Bold where dedupdb loses to the row."""
    return f"**{text}**" if lost else text


def seconds(value):
    return "" if value is None else f"{value:.2f}"


def percent(value):
    return "" if value is None else f"{100 * value:.2f}%"


def arguments():
    parser = argparse.ArgumentParser(description="Sets dedupdb beside other near-duplicate libraries on a corpus of yours.")
    parser.add_argument("corpus", help='JSON lines, objects with the strings "id" (unique) and "text"')
    parser.add_argument("--peers", default=",".join(PEERS), help="separated by commas (default: %(default)s)")
    parser.add_argument("--permutations", type=int, default=128, help="slots of a signature (default: %(default)s)")
    parser.add_argument("--bands", type=int, default=16, help="(default: %(default)s)")
    parser.add_argument("--rows", type=int, default=8, help="slots in a band (default: %(default)s)")
    parser.add_argument("--threshold", type=float, default=0.8, help="least Jaccard similarity (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="medians are over so many (default: %(default)s)")
    parser.add_argument("--truth", help="the true pairs: two ids and their Jaccard similarity, with tabs between them")
    parser.add_argument("--threads", type=int, default=0, help="threads for every row (default: as each decides)")
    parser.add_argument("--verify", action="store_true", help="check the pairs of the Python peers by exact Jaccard too")
    parser.add_argument("--dedupdb", help="the program (default: on PATH, or target/release of this repository)")
    parser.add_argument("--scratch", help="folder for the temporary store, to choose the disk (default: the system's)")
    args = parser.parse_args()
    args.peers = [peer.strip().lower() for peer in args.peers.split(",") if peer.strip()]
    for peer in args.peers:
        if peer not in PEERS:
            parser.error(f"no such peer: {peer}; there are {', '.join(PEERS)}")
    if args.bands * args.rows != args.permutations:
        parser.error("bands times rows must be the permutations: rensa, gaoya and FastSketchLSH use all of them")
    if args.runs < 1:
        parser.error("there must be a run")
    for path in filter(None, (args.corpus, args.truth)):
        if not os.path.isfile(path):
            parser.error(f"no such file: {path}")
    if args.scratch and not os.path.isdir(args.scratch):
        parser.error(f"--scratch: no such folder: {args.scratch}")
    return args


def measure(args, rows, folder, plain):
    """Runs the rows in turns, so that a slow minute of the machine does not fall on one of them."""
    env = dict(os.environ)
    if args.threads:
        env.update(RAYON_NUM_THREADS=str(args.threads), OMP_NUM_THREADS=str(args.threads))
    results = {row: [] for row in rows}
    answers = {row: os.path.join(folder, f"answers{n}") for n, row in enumerate(rows)}
    for run in range(args.runs):
        for row in list(results):
            print(f"run {run + 1} of {args.runs}: {row}", file=sys.stderr)
            try:
                if row.startswith("dedupdb"):
                    result = run_dedupdb(row, args, folder, answers[row], plain)
                else:
                    order = {key: getattr(args, key) for key in ("corpus", "permutations", "bands", "rows", "threshold", "verify")}
                    result, memory = in_worker("row", folder, env, row=row, pairs=answers[row], **order)
                    result["memory"] = memory
                result["total"] = sum(result["stages"].values())
                results[row].append(result)
            except Failed as error:
                print(f"left out: {row} failed: {error}\n")
                del results[row]
    return results, {row: answers[row] for row in results}


def report(args, results, scored):
    median = lambda runs, field: statistics.median(field(run) for run in runs)
    total = {row: median(runs, lambda r: r["total"]) for row, runs in results.items()}
    memory = {row: median(runs, lambda r: r["memory"]) / 2**20 for row, runs in results.items()}
    stages = {
        row: {s: median(runs, lambda r, s=s: r["stages"].get(s, 0.0)) for s in runs[0]["stages"]} for row, runs in results.items()
    }
    ours = "dedupdb" if "dedupdb" in results else None

    def compared(row, value):
        if ours is None or row == ours:
            return ""
        return bold(f"{value / total[ours]:.2f}x", value < total[ours])

    shown = [s for s in STAGES if s != "verify" or args.verify]
    lines = []
    for row, runs in results.items():
        cells = [row]
        if row.startswith("dedupdb"):
            if runs[0]["bands"] and row == "dedupdb, own default":
                cells = [f"{row} {runs[0]['bands']}"]
            start = "store" if row == "dedupdb, pairs" else "read"
            cells += ["", "", "", f"{stages[row]['add']:.2f} (read to commit)", f"{stages[row]['query']:.2f} ({start} to answer)"]
            cells += [""] * (len(shown) - 5)
            index_only = None
        else:
            cells += [seconds(stages[row].get(s)) for s in shown]
            index_only = total[row] - stages[row].get("read", 0.0) - stages[row].get("shingle", 0.0)
        totals = [run["total"] for run in runs]
        cells += [f"{total[row]:.2f}", f"{min(totals):.2f}-{max(totals):.2f}", compared(row, total[row])]
        cells += [compared(row, index_only) if index_only is not None else ""]
        lost = ours is not None and not row.startswith("dedupdb") and memory[row] < memory[ours]
        cells += [bold(f"{memory[row]:.0f}", lost)]
        cells += [f"{median(runs, lambda r: r['disk']) / 2**20:.0f}" if "disk" in runs[0] else "none"]
        verified = args.verify and "verify" in stages[row]
        cells += ["in memory; verified by exact Jaccard in Python" if verified else ROWS[row][3]]
        lines.append(cells)
    head = ["", *(f"{s}, s" for s in shown), "total, s", "least-most", "total, x dedupdb"]
    head += ["without read and shingle, x dedupdb", "peak MiB", "disk MiB", "does"]
    print(table(head, lines), end="\n\n")

    scores, truth = scored["scores"], scored["truth"]
    fields = ["pairs", "precision", "recall", "flagged", "flag precision", "flag recall"]
    names = ["pairs reported", "of them true", "true pairs found", "documents flagged", "of them rightly", "rightful found"]
    if truth is None:
        fields, names = fields[::3], names[::3]
    lines = []
    if truth is not None:
        lines.append(["truth", f"{truth['pairs']:,}", "", "", f"{truth['flagged']:,}", "", ""])
    for row, score in scores.items():
        cells = [row]
        for field in fields:
            value = score.get(field)
            if field in ("pairs", "flagged"):
                cells.append("none" if value is None else f"{value:,}")
            else:
                mine = scores[ours].get(field) if ours else None
                lost = None not in (value, mine) and not row.startswith("dedupdb") and value > mine
                cells.append(bold(percent(value), lost))
        lines.append(cells)
    print(table(["", *names], lines), end="\n\n")
    print("Bold: dedupdb loses there.")


def main():
    args = arguments()
    args.dedupdb = find_dedupdb(args.dedupdb)
    rows = []
    for row, (peer, module, _, _) in ROWS.items():
        if peer not in args.peers:
            continue
        if module and importlib.util.find_spec(module) is None:
            missing = f"skipped: {row} ({module} is not installed)"
        elif row in RUST and args.verify:
            missing = f"skipped: {row} (its pairs cannot be verified here)"
        elif row in RUST and not rust_peers():
            missing = f"skipped: {row} (not built: cargo build --release --manifest-path benches/compare/rust/Cargo.toml)"
        elif row.startswith("dedupdb") and not args.dedupdb:
            missing = f"skipped: {row} (no such program; build it or give --dedupdb)"
        else:
            rows.append(row)
            continue
        print(missing, end="\n\n")
    if not rows:
        sys.exit("compare.py: nothing to compare")

    with tempfile.TemporaryDirectory(prefix="compare-", dir=args.scratch) as folder:
        try:
            corpus, _ = in_worker("inspect", folder, corpus=args.corpus, truth=args.truth, threshold=args.threshold)
            load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
            print(f"Corpus: {corpus['documents']:,} documents, {corpus['bytes'] / 1e6:.1f} MB of text, ", end="")
            print(f"{corpus['short']:,} of them of fewer than 5 words.  ")
            print(f"Machine: {processor()}, {os.cpu_count()} cores, {platform.system()}{load}.  ")
            versions = [f"Python {platform.python_version()}"]
            if any(row.startswith("dedupdb") for row in rows):
                versions.append(subprocess.run([args.dedupdb, "--version"], capture_output=True, text=True, check=False).stdout.strip())
            versions += dict.fromkeys(f"{ROWS[r][2]} {importlib.metadata.version(ROWS[r][2])}" for r in rows if ROWS[r][2])
            if set(rows) & set(RUST):
                versions += rust_versions()
            print(f"Versions: {', '.join(versions)}.  ")
            print(f"Shape: {args.permutations} permutations, {args.bands} bands of {args.rows} rows, threshold {args.threshold:g}; ", end="")
            print(f"threads: {args.threads or 'as each decides'}; medians of {args.runs}.", end="\n\n", flush=True)
            results, answers = measure(args, rows, folder, corpus["plain"])
            if not results:
                raise Failed("nothing was measured")
            scored, _ = in_worker(
                "score", folder, corpus=args.corpus, truth=args.truth, threshold=args.threshold, answers=answers, plain=corpus["plain"]
            )
        except Failed as error:
            sys.exit(f"compare.py: {error}")
    report(args, results, scored)


if __name__ == "__main__":
    worker() if "--worker" in sys.argv[1:2] else main()
