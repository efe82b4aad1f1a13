"use strict";
(() => {
  // Keys and texts come from strangers, so they are always shown as text nodes, never as HTML.
  const data = JSON.parse(document.getElementById("data").textContent);
  const PAGE = 50;
  const ROWS = 50;
  const CELLS = 4000000;
  const MOSTLY = 0.8;
  const KEEP = 1;
  const DROP = 2;
  const MISSING = -1;
  const LEFT_OUT = -2;

  // The state of a document's file. A file that was not checked counts as present.
  const [NOT_CHECKED, AT_HAND, GONE, CHANGED, OUT_OF_REACH, OTHER_NAME] = [0, 1, 2, 3, 4, 5];

  const at = (id) => document.getElementById(id);

  // Clusters and documents as objects with named fields. Each document has its own tick.
  const clusters = data.clusters.map(([documents, lowest, identical, rows], index) => ({
    number: index + 1,
    documents,
    lowest,
    identical,
    rows: rows.map(([key, similarity, content, size, time, text, state, file, reaches, contained, longest]) => ({
      key, similarity, content, size, time, text, state, file, reaches: (reaches & 1) === 1, holds: (reaches & 2) === 2, contained, longest, tick: 0, show: null,
    })),
  }));

  // What two texts share: for each of them the number of its words and the marks of its passages.
  const shared = new Map(data.shared.map(([a, b, wordsA, wordsB, inA, inB]) => [`${a} ${b}`, [
    { words: wordsA, marks: inA },
    { words: wordsB, marks: inB },
  ]]));

  /** Makes an element with these attributes and children. Strings become text. */
  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [attribute, value] of Object.entries(attributes)) {
      if (attribute.startsWith("on")) made.addEventListener(attribute.slice(2), value);
      else made.setAttribute(attribute, value);
    }
    made.append(...children);
    return made;
  }

  const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\u200e\u200f]/gu;
  const NAMED = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };

  /** Escapes a character as `dedupdb list` does. */
  function spelled(c) {
    return NAMED[c] ?? `\\u{${c.codePointAt(0).toString(16)}}`;
  }

  /** A key for people to read. No character in it moves the cursor or changes the writing direction. */
  const printable = (text) => text.replace(UNPRINTABLE, spelled);

  /** A key as a line that `--escaped` reads. */
  const escaped = (key) => printable(key.replaceAll("\\", "\\\\"));

  /** A text for people to read. It keeps its lines. */
  const readable = (text) => text.replace(UNPRINTABLE, (c) => (c === "\n" || c === "\t" ? c : c === "\r" ? "" : spelled(c)));

  const grouped = (number) => number.toLocaleString("en-US");
  const counted = (number, one, many) => `${grouped(number)} ${number === 1 ? one : many}`;
  const counts = (number) => counted(number, ...data.unit);
  /** Never rounded up to 100. */
  const percent = (share) => `${(share < 1 ? Math.min(share * 100, 99.9) : 100).toFixed(1)}%`;
  const alike = (similarity) => `${data.estimated ? "~" : ""}${similarity.toFixed(4)}`;

  function bytes(number) {
    if (number < 1000) return `${number} B`;
    let value = number / 1000;
    let unit = 0;
    while (value >= 999.95) {
      value /= 1000;
      unit += 1;
    }
    return `${value.toFixed(1)} ${["kB", "MB", "GB", "TB", "PB", "EB"][unit]}`;
  }

  function time(seconds) {
    if (seconds === null) return "not known";
    const date = new Date(seconds * 1000);
    return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString().slice(0, 16).replace("T", " ");
  }

  // Words, as `dedupdb explain` cuts them: runs of letters and digits, and single marks and characters of scripts
  // without spaces.
  const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Myanmar}\p{Script=Khmer}]|[\p{L}\p{N}\p{M}]+|[^\s\p{L}\p{N}\p{M}]/gu;

  /** The words of a text: the start and end of each, and its number among all words. */
  function words(text, numbers) {
    const found = [];
    for (const match of text.matchAll(WORD)) {
      const word = match[0];
      if (!numbers.has(word)) numbers.set(word, numbers.size);
      found.push({ from: match.index, to: match.index + word.length, id: numbers.get(word) });
    }
    return found;
  }

  /** Pairs of places in a and b that hold the same word, ascending in both. The work is bounded. */
  function common(a, b) {
    const pairs = [];
    const work = [[0, a.length, 0, b.length]];
    while (work.length > 0) {
      let [a0, a1, b0, b1] = work.pop();
      while (a0 < a1 && b0 < b1 && a[a0].id === b[b0].id) pairs.push([a0++, b0++]);
      while (a0 < a1 && b0 < b1 && a[a1 - 1].id === b[b1 - 1].id) pairs.push([--a1, --b1]);
      if (a0 === a1 || b0 === b1) continue;
      if ((a1 - a0) * (b1 - b0) <= CELLS) {
        longest(a, b, a0, a1, b0, b1, pairs);
        continue;
      }
      // Too large to compare all pairs of words: the words that occur once in each divide the ranges.
      const anchors = unique(a, b, a0, a1, b0, b1);
      let [fromA, fromB] = [a0, b0];
      for (const [x, y] of anchors) {
        pairs.push([x, y]);
        work.push([fromA, x, fromB, y]);
        [fromA, fromB] = [x + 1, y + 1];
      }
      if (anchors.length > 0) work.push([fromA, a1, fromB, b1]);
    }
    return pairs.sort((one, other) => one[0] - other[0]);
  }

  /** The longest common subsequence of two ranges, by a table of all pairs. */
  function longest(a, b, a0, a1, b0, b1, pairs) {
    const width = b1 - b0 + 1;
    const table = new Uint16Array((a1 - a0 + 1) * width);
    for (let i = a1 - a0 - 1; i >= 0; i -= 1) {
      for (let j = b1 - b0 - 1; j >= 0; j -= 1) {
        table[i * width + j] = a[a0 + i].id === b[b0 + j].id
          ? table[(i + 1) * width + j + 1] + 1
          : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
      }
    }
    for (let i = 0, j = 0; i < a1 - a0 && j < b1 - b0;) {
      if (a[a0 + i].id === b[b0 + j].id) pairs.push([a0 + i++, b0 + j++]);
      else if (table[(i + 1) * width + j] >= table[i * width + j + 1]) i += 1;
      else j += 1;
    }
  }

  /** The words that occur once in each of two ranges, ascending in both. */
  function unique(a, b, a0, a1, b0, b1) {
    const once = (words, from, to) => {
      const places = new Map();
      for (let at = from; at < to; at += 1) places.set(words[at].id, places.has(words[at].id) ? -1 : at);
      return places;
    };
    const [inA, inB] = [once(a, a0, a1), once(b, b0, b1)];
    const both = [];
    for (const [id, place] of inA) {
      const other = inB.get(id);
      if (place >= 0 && other !== undefined && other >= 0) both.push([place, other]);
    }
    // The longest run that ascends in b. For each length, keep the smallest end, and the predecessor of each place.
    const ends = [];
    const before = new Int32Array(both.length).fill(-1);
    both.forEach(([, y], index) => {
      let [low, high] = [0, ends.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (both[ends[middle]][1] < y) low = middle + 1;
        else high = middle;
      }
      if (low > 0) before[index] = ends[low - 1];
      ends[low] = index;
    });
    const run = [];
    for (let index = ends.length > 0 ? ends[ends.length - 1] : -1; index >= 0; index = before[index]) run.push(both[index]);
    return run.reverse();
  }

  /** The parts of both texts, equal or changed, each with its range of words. */
  function pieces(a, b) {
    const found = [];
    let [i, j] = [0, 0];
    const pairs = common(a, b);
    pairs.push([a.length, b.length]);
    for (const [x, y] of pairs) {
      if (x > i || y > j) found.push({ same: false, a: [i, x], b: [j, y] });
      const last = found[found.length - 1];
      if (x < a.length) {
        if (last?.same) [last.a[1], last.b[1]] = [x + 1, y + 1];
        else found.push({ same: true, a: [x, x + 1], b: [y, y + 1] });
      }
      [i, j] = [x + 1, y + 1];
    }
    return found;
  }

  /** The text between two words. */
  const passage = (text, words, [from, to]) => (from < to ? text.slice(words[from].from, words[to - 1].to) : "");

  /** The reason why a text is not shown, or null. */
  function absence(row) {
    if (row.text >= 0) return null;
    if (row.text === MISSING) return "No text at hand: no file that its key names has this text now.";
    if (row.text === LEFT_OUT) return "The text is left out: there was no room for it.";
    return "Texts are left out, as was asked for.";
  }

  const textOf = (row) => data.texts[row.text][0];
  const isCut = (row) => data.texts[row.text][1] === 1;

  /** The text of a document, or the reason why it is missing. */
  function reading(row) {
    const why = absence(row);
    const shown = element("div", {});
    if (why !== null) shown.append(element("p", {}, why));
    else shown.append(element("div", { class: "text" }, readable(textOf(row))));
    if (why === null && isCut(row)) shown.append(element("p", { class: "same" }, "The text goes on."));
    return shown;
  }

  /** The document with which one is compared: the one with which it shares the longest passage, or the representative. */
  const comparedWith = (cluster, row) => (row.longest && cluster.rows[row.longest[1]]) || cluster.rows[0];

  /** Two texts side by side, word by word. */
  function comparison(first, row, isFirst) {
    const shown = element("div", { role: "group", "aria-label": "Comparison" });
    const why = absence(first) ?? absence(row);
    if (why !== null) {
      shown.append(element("p", {}, why));
      return shown;
    }
    if (first.text === row.text) {
      shown.append(element("p", {}, "The texts are the same."), reading(row));
      return shown;
    }
    const [left, right] = [textOf(first), textOf(row)];
    const numbers = new Map();
    const [a, b] = [words(left, numbers), words(right, numbers)];
    const found = pieces(a, b);
    const both = shared.get(`${first.text} ${row.text}`);
    const sides = element("div", { class: "sides" });
    const names = [first, row].map((it) => printable(it.key));
    const fill = (view) => {
      sides.replaceChildren(...names.map((name) => element("h3", {}, element("bdi", {}, name))));
      if (view === "passages") {
        const columns = linked(both, [left, right], names);
        sides.append(...columns);
        // Once the columns are on the page, they begin with their first passage.
        requestAnimationFrame(() => {
          for (const column of columns) {
            const top = (it) => it.getBoundingClientRect().top;
            column.scrollTop += top(column.querySelector("mark")) - top(column) - 24;
          }
        });
        return;
      }
      for (const [one, other] of lines(found, left, right, a, b, view === "words")) {
        sides.append(element("div", { class: "text" }, ...one), element("div", { class: "text" }, ...other));
      }
    };
    const views = [["changes", "Changes"], ["words", "All words"]];
    if (both !== undefined && both[0].marks.length > 0) views.push(["passages", "Shared passages"]);
    const tools = element("p", { class: "tools", role: "group", "aria-label": "What is shown" });
    const choose = (view) => {
      for (const button of tools.children) button.setAttribute("aria-pressed", String(button.value === view));
      fill(view);
    };
    tools.append(...views.map(([view, name]) => element("button", { type: "button", value: view, onclick: () => choose(view) }, name)));
    choose(row.similarity < 0.5 ? views[views.length - 1][0] : "changes");
    shown.append(...(isFirst ? containment(names, row) : []), ...coverage(both, [left, right], names), tools, sides);
    if (isCut(first) || isCut(row)) {
      shown.append(element("p", { class: "same" }, "The beginnings are compared; the texts go on."));
    }
    return shown;
  }

  /** How similar two texts are, and which is inside which. */
  function containment([first, other], row) {
    const told = [`Similarity ${alike(row.similarity)}. `];
    if (row.contained) {
      const [ofOther, ofFirst] = row.contained;
      const name = (key) => element("bdi", {}, key);
      told.push(`${percent(ofOther)} of `, name(other), " is in ", name(first), `, and ${percent(ofFirst)} of `, name(first), " is in ", name(other), ". ");
      const [isIn, holds] = [ofOther >= MOSTLY, ofFirst >= MOSTLY];
      if (isIn && holds) told.push("Each is mostly inside the other.");
      else if (isIn) told.push(name(other), " is mostly inside ", name(first), ".");
      else if (holds) told.push(name(first), " is mostly inside ", name(other), ".");
      else told.push("Neither is mostly inside the other.");
    }
    return [element("p", {}, ...told)];
  }

  /** How much of each text is in passages that both have, and where. */
  function coverage(both, texts, names) {
    if (both === undefined) return [];
    const least = counts(data.least);
    if (both[0].marks.length === 0) return [element("p", {}, `They share no passage of ${least}.`)];
    return both.flatMap(({ words: all, marks }, side) => {
      const covered = marks.reduce((sum, mark) => sum + mark[2], 0);
      const told = `${grouped(covered)} of ${counts(all)} (${percent(covered / all)}) in passages of at least ${least} that both have`;
      return [
        element("p", {}, element("bdi", {}, names[side]), `: ${told}`),
        strip(marks, texts[side].length, told),
      ];
    });
  }

  /** Draws where marks are in a text. */
  function strip(marks, length, told) {
    const drawn = (name, attributes) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
      return made;
    };
    const bar = drawn("svg", { class: "strip", role: "img", "aria-label": told, viewBox: "0 0 500 20", preserveAspectRatio: "none" });
    const step = (at) => (at / length) * 500;
    bar.append(drawn("rect", { class: "rest", width: 500, height: 20 }), ...marks.map(([start, end]) => drawn("rect", {
      class: "high", x: step(start).toFixed(1), width: Math.max(2, step(end - start)).toFixed(1), height: 20,
    })));
    return bar;
  }

  /** Two whole texts with their shared passages. A click or a key on one leads to the same one in the other text. */
  function linked(both, texts, names) {
    const marks = both.map((side, which) => side.marks.map(([start, end, length, other], index) => {
      const number = (which === 0 ? index : other) + 1;
      const label = `Passage ${number}, ${counts(length)}: go to it in the other text`;
      const go = () => {
        const button = marks[1 - which][other].querySelector("button");
        button.focus();
        button.scrollIntoView({ block: "center" });
      };
      const button = element("button", { type: "button", class: "no", "aria-label": label }, String(number));
      return element("mark", { class: "few", onclick: go }, button, readable(texts[which].slice(start, end)));
    }));
    return both.map((side, which) => {
      const shown = element("div", { class: "text linked", role: "region", tabindex: "0", "aria-label": `Passages in ${names[which]}` });
      let last = 0;
      side.marks.forEach(([start, end], index) => {
        shown.append(readable(texts[which].slice(last, start)), marks[which][index]);
        last = end;
      });
      shown.append(readable(texts[which].slice(last)));
      return shown;
    });
  }

  /** The parts as rows of two columns. A long equal passage begins a new row. */
  function lines(found, left, right, a, b, isWhole) {
    const EDGE = 12;
    const all = [];
    let [one, other] = [[], []];
    const end = () => {
      if (one.length > 0 || other.length > 0) all.push([one, other]);
      [one, other] = [[], []];
    };
    const put = (piece, from, to) => {
      const span = (start) => [start + from, start + to];
      one.push(readable(passage(left, a, span(piece.a[0]))), " ");
      other.push(readable(passage(right, b, span(piece.b[0]))), " ");
    };
    for (const piece of found) {
      if (!piece.same) {
        const gone = passage(left, a, piece.a);
        const come = passage(right, b, piece.b);
        if (gone !== "") one.push(element("del", {}, readable(gone)), " ");
        if (come !== "") other.push(element("ins", {}, readable(come)), " ");
        continue;
      }
      const length = piece.a[1] - piece.a[0];
      if (isWhole || length <= 3 * EDGE) {
        put(piece, 0, length);
        if (length > EDGE) end();
        continue;
      }
      if (one.length > 0 || other.length > 0) put(piece, 0, EDGE);
      end();
      const skipped = `⋯ ${counted(length - 2 * EDGE, "word", "words")} the same ⋯`;
      all.push([[element("span", { class: "same" }, skipped)], [element("span", { class: "same" }, skipped)]]);
      put(piece, length - EDGE, length);
    }
    end();
    return all;
  }

  /** Whether a document's file is as it was stored, or was not checked. Only such a document can stay for others. */
  const stands = (row) => row.state === NOT_CHECKED || row.state === AT_HAND;

  /** The documents that stay: neither they nor other names of their files are ticked to be dropped. */
  function staying(cluster) {
    const going = new Set(cluster.rows.filter((row) => row.tick === DROP).map((row) => row.file));
    return cluster.rows.filter((row) => stands(row) && !going.has(row.file));
  }

  /** The clusters that lose files and keep no document whose file is present. */
  const losing = () => clusters.filter((cluster) => cluster.rows.some(
    (row) => row.tick === DROP && row.state !== NOT_CHECKED && row.state !== GONE,
  ) && staying(cluster).length === 0);

  /** A document's role in its cluster, and the state of its file. */
  function likeness(cluster, row) {
    const first = cluster.rows[0];
    const copied = cluster.rows[row.content];
    const copy = copied === row ? "" : `, identical to ${printable(copied.key)}`;
    const isIn = row.similarity < MOSTLY && row.contained && row.contained[0] >= MOSTLY;
    const inside = isIn ? `, ${percent(row.contained[0])} of it in the representative` : "";
    const similarity = row.similarity === 1 && !data.estimated && !data.ignoring ? "same words" : alike(row.similarity) + inside;
    const alikeness = row === first ? "representative" : copied === first ? "identical" : `${similarity}${copy}`;
    const passage = row.longest && row !== first ? `, shares ${counts(row.longest[0])} with ${printable(comparedWith(cluster, row).key)}` : "";
    if (row.state === GONE) return `${alikeness}, gone`;
    if (row.state === OUT_OF_REACH) return `${alikeness}, cannot be looked at`;
    const is = row === first ? "representative, " : "";
    if (row.state === CHANGED) return `${is}changed since it was added`;
    if (row.state === OTHER_NAME) return `${is}another name of ${printable(cluster.rows[row.file].key)}`;
    return alikeness + passage;
  }

  /** A button that sets or clears a document's tick. */
  function ticker(row, tick, word) {
    return element("button", {
      type: "button",
      "aria-pressed": String(row.tick === tick),
      "aria-label": `${word} ${printable(row.key)}`,
      onclick: () => {
        row.tick = row.tick === tick ? 0 : tick;
        ticked();
      },
    }, word);
  }

  /** The row of a document, with its ticks, and its text on request. */
  function line(cluster, row, body) {
    const isFirst = row === cluster.rows[0];
    const keep = ticker(row, KEEP, "Keep");
    const drop = ticker(row, DROP, "Drop");
    const word = isFirst ? "Text" : "Compare";
    let below = null;
    const open = element("button", {
      type: "button",
      "aria-expanded": "false",
      "aria-label": `${word} ${printable(row.key)}`,
      onclick: () => {
        if (below === null) {
          const other = comparedWith(cluster, row);
          const inside = isFirst ? reading(row) : comparison(other, row, other === cluster.rows[0]);
          if (row.state === CHANGED) inside.prepend(element("p", {}, "The file has changed since it was added: the text is the one that was stored."));
          below = element("tr", {}, element("td", { colspan: "5" }, inside));
          shown.after(below);
        } else {
          below.remove();
          below = null;
        }
        open.setAttribute("aria-expanded", String(below !== null));
      },
    }, word);
    const shown = element("tr", {},
      element("th", { scope: "row", class: "key" }, element("bdi", {}, printable(row.key))),
      element("td", { "data-name": "Similarity" }, likeness(cluster, row)),
      element("td", { "data-name": "Size" }, bytes(row.size)),
      element("td", { "data-name": "Time" }, time(row.time)),
      element("td", { class: "choice" }, keep, drop, open));
    row.show = () => {
      keep.setAttribute("aria-pressed", String(row.tick === KEEP));
      drop.setAttribute("aria-pressed", String(row.tick === DROP));
      shown.className = row.tick === DROP ? "drop" : "";
    };
    row.show();
    body.append(shown);
  }

  /** The content of a cluster, as far as it was requested. */
  function inside(cluster) {
    const body = element("tbody", {});
    const heads = ["Key", "Similarity", "Size", "Time", "Decision"];
    const head = element("tr", {}, ...heads.map((name) => element("th", { scope: "col" }, name)));
    const table = element("table", { class: "rows" }, element("thead", {}, head), body);
    const label = `Documents of cluster ${cluster.number}`;
    const shown = element("div", { class: "inside" },
      element("div", { class: "scrolled", role: "region", tabindex: "0", "aria-label": label }, table));
    let next = 0;
    const more = element("button", { type: "button", onclick: () => go() }, "Show more");
    const go = () => {
      for (const row of cluster.rows.slice(next, next + ROWS)) line(cluster, row, body);
      next += ROWS;
      more.hidden = next >= cluster.rows.length;
    };
    go();
    shown.append(more);
    const missing = cluster.documents - cluster.rows.length;
    if (missing > 0) {
      shown.append(element("p", {}, `${counted(missing, "document", "documents")} more, for which there was no room.`));
    }
    return shown;
  }

  /** A cluster, closed. */
  function closed(cluster) {
    const key = cluster.rows.length > 0 ? printable(cluster.rows[0].key) : "";
    const kind = cluster.identical === cluster.documents - 1
      ? "identical"
      : `lowest similarity ${alike(cluster.lowest)}`;
    const told = `${counted(cluster.documents, "document", "documents")}, ${kind}: `;
    const details = element("details", {
      ontoggle: () => {
        if (details.open && details.childElementCount === 1) details.append(inside(cluster));
      },
    }, element("summary", {}, element("span", { class: "quiet" }, told), element("bdi", {}, key)));
    return element("li", {}, details);
  }

  let found = clusters;
  let first = 0;

  /** Shows the page of clusters that starts at `start`. */
  function show(start) {
    for (const cluster of found.slice(first, first + PAGE)) for (const row of cluster.rows) row.show = null;
    first = start;
    const shown = found.slice(first, first + PAGE);
    at("list").replaceChildren(...shown.map(closed));
    at("list").setAttribute("start", String(first + 1));
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    at("page").textContent = `Page ${grouped(first / PAGE + 1)} of ${grouped(pages)}`;
    at("previous").disabled = first === 0;
    at("next").disabled = first + PAGE >= found.length;
  }

  const limit = (id, otherwise) => {
    const value = at(id).valueAsNumber;
    return Number.isNaN(value) ? otherwise : value;
  };

  /** Shows the clusters that pass the filters. */
  function filter() {
    const key = at("find").value.toLowerCase();
    const kind = at("kind").value;
    const [least, most] = [limit("least-size", 0), limit("most-size", Infinity)];
    const [lowest, highest] = [limit("least-alike", 0), limit("most-alike", 1)];
    const isIn = (cluster) => {
      const isIdentical = cluster.identical === cluster.documents - 1;
      return cluster.documents >= least && cluster.documents <= most
        && cluster.lowest >= lowest && cluster.lowest <= highest
        && (kind === "all" || (kind === "identical") === isIdentical)
        && (key === "" || cluster.rows.some((row) => row.key.toLowerCase().includes(key)));
    };
    const before = found;
    found = clusters.filter(isIn);
    for (const cluster of before.slice(first, first + PAGE)) for (const row of cluster.rows) row.show = null;
    at("status").textContent = `${counted(found.length, "cluster", "clusters")} of ${grouped(clusters.length)}`;
    first = 0;
    show(0);
  }

  /** Counts the ticks, and updates the visible ones. */
  function ticked() {
    let [keep, drop, size] = [0, 0, 0];
    for (const cluster of clusters) {
      for (const row of cluster.rows) {
        keep += row.tick === KEEP ? 1 : 0;
        drop += row.tick === DROP ? 1 : 0;
        size += row.tick === DROP ? row.size : 0;
        if (row.show !== null) row.show();
      }
    }
    at("ticked").textContent = `To go: ${counted(drop, "document", "documents")}, ${bytes(size)}. Marked to stay: ${counted(keep, "document", "documents")}.`;
    for (const id of ["save-drop", "save-lines"]) at(id).disabled = drop === 0;
    at("save-keep").disabled = keep === 0;
    isDirty = keep + drop > 0;
    isWarned = false;
  }

  let isDirty = false;
  let isWarned = false;

  /** Whether two documents have the same text. */
  const isCopy = (one, other) => one.content === other.content;

  /** Whether a document that goes is known to resemble one that stays, or to be in it. Others may be connected only
      through documents between them. */
  const isAlike = (one, other) => isCopy(one, other)
    || (one.content === 0 && other.reaches) || (other.content === 0 && one.holds);

  /** Ticks the documents of the filtered clusters that `goesFor` a document that stays, which is the first of each
      kind. Documents that have a tick keep it. Reports how many others stay. */
  function tick(kindOf, goesFor) {
    let others = 0;
    for (const cluster of found) {
      const kept = new Map();
      for (const row of staying(cluster)) if (!kept.has(kindOf(row))) kept.set(kindOf(row), row);
      const isKept = (row) => row.tick === KEEP || kept.get(kindOf(row)) === row;
      const files = new Set(cluster.rows.filter(isKept).map((row) => row.file));
      for (const row of cluster.rows) {
        const stays = kept.get(kindOf(row));
        if (row.tick !== 0 || !stands(row) || stays === undefined || files.has(row.file)) continue;
        if (goesFor(stays, row)) row.tick = DROP;
        else others += 1;
      }
    }
    ticked();
    if (others > 0) {
      at("ticked").textContent += ` Not marked, because not similar enough to a document that stays, or not in it: ${counted(others, "document", "documents")}.`;
    }
  }

  /** Saves the keys with one tick, each in the requested form and with the requested ending. */
  function save(name, tick, form, end) {
    const lost = tick === DROP && !isWarned ? losing() : [];
    if (lost.length > 0) {
      isWarned = true;
      const named = lost.slice(0, 3).map(({ rows }) => printable(rows[0].key)).join(", ");
      at("ticked").textContent = `Not saved: ${counted(lost.length, "cluster", "clusters")} would lose the last document at hand (${named}${lost.length > 3 ? ", …" : ""}). Press again to save all the same.`;
      return;
    }
    const keys = clusters.flatMap(({ rows }) => rows.filter((row) => row.tick === tick).map((row) => row.key));
    const fit = keys.filter((key) => !form(key).includes(end));
    const url = URL.createObjectURL(new Blob(fit.map((key) => form(key) + end), { type: "application/octet-stream" }));
    element("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
    const unfit = keys.length - fit.length;
    if (unfit > 0) at("ticked").textContent = `${counted(unfit, "key has", "keys have")} a NUL byte and cannot be in that list; save lines.`;
    isDirty = false;
  }

  let pause = 0;
  at("filters").addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(filter, 120);
  });
  at("filters").addEventListener("submit", (event) => event.preventDefault());
  at("filters").addEventListener("reset", () => setTimeout(filter));
  at("previous").addEventListener("click", () => show(first - PAGE));
  at("next").addEventListener("click", () => show(first + PAGE));
  at("drop-identical").addEventListener("click", () => tick((row) => row.content, isCopy));
  at("drop-others").addEventListener("click", () => tick(() => 0, isAlike));
  at("clear").addEventListener("click", () => {
    for (const cluster of found) for (const row of cluster.rows) row.tick = 0;
    ticked();
  });
  const whole = (key) => key;
  at("save-drop").addEventListener("click", () => save("drop.keys", DROP, whole, "\0"));
  at("save-keep").addEventListener("click", () => save("keep.keys", KEEP, whole, "\0"));
  at("save-lines").addEventListener("click", () => save("drop.txt", DROP, escaped, "\n"));
  addEventListener("beforeunload", (event) => {
    if (isDirty) event.preventDefault();
  });
  filter();
  ticked();
})();
