// Stores the pages of a JSON Lines file, unless they are near-duplicates: node crawl.mjs PAGES.jsonl

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

const server = spawn("dedupdb", ["--store", "seen", "serve"], { stdio: ["pipe", "pipe", "inherit"] });
const ended = once(server, "exit");

async function askAll(path) {
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const { id, text } = JSON.parse(line);
    const request = JSON.stringify({ op: "insert", id, key: id, text }) + "\n";
    if (!server.stdin.write(request)) await once(server.stdin, "drain");
  }
  server.stdin.end();
}

async function countVerdicts() {
  const verdicts = {};
  for await (const line of createInterface({ input: server.stdout })) {
    const { id, verdict, error } = JSON.parse(line);
    if (error) console.error(id, error.message);
    else verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
  }
  return verdicts;
}

// Answers are read while requests are written, or both processes would wait for each other.
const [, verdicts] = await Promise.all([askAll(process.argv[2]), countVerdicts()]);
for (const verdict of Object.keys(verdicts).sort()) console.log(verdict, verdicts[verdict]);
[process.exitCode] = await ended;
