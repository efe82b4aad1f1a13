"""Stores the pages of a JSON Lines file, unless they are near-duplicates: python3 crawl.py PAGES.jsonl

For programs that cannot use the Python package: it talks to `dedupdb serve`.
"""

import collections
import json
import subprocess
import sys
import threading

server = subprocess.Popen(["dedupdb", "--store", "seen", "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def ask_all(path):
    with server.stdin as requests, open(path, encoding="utf-8") as pages:
        for line in pages:
            page = json.loads(line)
            request = {"op": "insert", "id": page["id"], "key": page["id"], "text": page["text"]}
            requests.write(json.dumps(request).encode() + b"\n")


# Answers are read while requests are written, or both processes would wait for each other.
asking = threading.Thread(target=ask_all, args=sys.argv[1:2])
asking.start()
verdicts = collections.Counter()
for line in server.stdout:
    answer = json.loads(line)
    if "error" in answer:
        print(answer.get("id"), answer["error"]["message"], file=sys.stderr)
    else:
        verdicts[answer["verdict"]] += 1
asking.join()
for verdict, count in sorted(verdicts.items()):
    print(verdict, count)
sys.exit(server.wait())
