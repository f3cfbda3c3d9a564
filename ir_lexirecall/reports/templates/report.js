"use strict";
const unpack = async (packed) => {
  const bytes = Uint8Array.from(atob(packed.textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
};
// Parts of the page that are stored compressed take the place of their stores.
const whole = Promise.all([...document.querySelectorAll(".stored")].map(async (store) => {
  try {
    store.outerHTML = await unpack(store);
  } catch {
    store.outerHTML = "<p>This browser cannot unpack this part: it has no DecompressionStream.</p>";
  }
}));

// Tables: a click on a head sorts, and all can be saved.
(async () => {
  await whole;
  const valueOf = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value ?? cell.textContent;
  };
  const inOrder = (number, sign) => (a, b) => {
    if (!number) return sign * a.localeCompare(b, "en", { numeric: true });
    const [x, y] = [parseFloat(a), parseFloat(b)];
    return isNaN(x) - isNaN(y) || (isNaN(x) ? 0 : sign * (x - y)); // what is missing comes last
  };
  const sort = (header) => {
    const body = header.closest("table").tBodies[0];
    const number = header.classList.contains("number");
    const before = header.getAttribute("aria-sort");
    const ascending = before ? before === "descending" : !number; // the highest number first
    const compare = inOrder(number, ascending ? 1 : -1);
    const rows = [...body.rows].map((row) => [valueOf(row, header.cellIndex), row]);
    rows.sort(([a], [b]) => compare(a, b)).forEach(([, row]) => body.append(row));
    for (const other of header.parentNode.cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  };
  for (const header of document.querySelectorAll(".sortable th[scope=col]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    button.addEventListener("click", () => sort(header));
    header.append(button);
  }
  const NUMBER = /^−?[0-9.]+(e[+−]?[0-9]+)?$/;
  const plain = (text) => (text === "–" ? "" : NUMBER.test(text) ? text.replaceAll("−", "-") : text); // as programs read it
  const quoted = (text) => {
    const safe = /^'*[=+\-@\t\r]/.test(text) && isNaN(text) ? "'" + text : text; // spreadsheets take these for formulas
    return /[",\r\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
  };
  const csv = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    const kept = heads.map((head, i) => i).filter((i) => !("skip" in heads[i].dataset));
    const ofRow = (row) => kept.map((i) => quoted(plain(valueOf(row, i).trim()))).join(",");
    const first = kept.map((i) => quoted(heads[i].dataset.column ?? heads[i].textContent.trim())).join(",");
    return [first, ...[...table.tBodies[0].rows].map(ofRow)].join("\r\n") + "\r\n";
  };
  for (const table of document.querySelectorAll("table[data-file]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "save";
    button.textContent = "save as CSV";
    button.setAttribute("aria-label", `save as CSV: ${table.dataset.file}`);
    button.addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob(["\ufeff", csv(table)], { type: "text/csv" }));
      link.download = table.dataset.file.replace(/[^\p{L}\p{N}@.-]+/gu, "-").slice(0, 80) + ".csv";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
    table.after(button);
  }
})();

// The query browser.
(async () => {
  const collections = document.querySelectorAll(".browser-data");
  if (!collections.length) return;
  await whole;
  const $ = (id) => document.getElementById(id);
  let data, texts, pairs, turns, now;
  const svg = (name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const html = (name, className, text) => {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const fill = (select, options) => select.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
  const round = (x) => String(+x.toFixed(4)).replace("-", "−");
  const apart = (x, y) => {
    let places = 4;
    while (x !== y && x.toFixed(places) === y.toFixed(places) && places < 16) places += 1;
    return [x, y].map((value) => String(+value.toFixed(places)).replace("-", "−"));
  };
  const ordinal = (n) => n + (n % 100 >= 11 && n % 100 <= 13 ? "th" : { 1: "st", 2: "nd", 3: "rd" }[n % 10] ?? "th");

  // -- what differs ------------------------------------------------------------------------------

  // Decision of a query by a criterion for run A: sign, size (how far apart), height of its bar,
  // amount (the difference of values, or the preference), words.
  const decision = (q, kind = now.kind) => {
    const { a, b } = now;
    const [A, B] = [data.runs[a], data.runs[b]];
    if (kind.values) {
      const [x, y] = [kind.values[a][q], kind.values[b][q]];
      if (x === null || y === null) return null; // a query that does not count
      const sign = kind.order ? Math.sign(kind.order[b][q] - kind.order[a][q]) : Math.sign(x - y) * (kind.smaller ? -1 : 1);
      const size = Math.abs(x - y);
      const [left, right] = apart(x, y);
      const rounded = sign && x === y ? "; the exact order decides" : "";
      return { sign, size, height: sign * size, amount: size, words: `${kind.short} is ${left} for ${A}, ${right} for ${B}${rounded}` };
    }
    const straight = pairs.get(`${a} ${b}`);
    const turned = straight === undefined;
    const at = straight ?? pairs.get(`${b} ${a}`);
    if (at === undefined) return { sign: 0, size: 0, height: 0, amount: 0, words: "this pair was not compared, or is not in this file" };
    const column = data.decided[at][kind.place];
    const value = column.v[q];
    if (value === null && !data.queries[q].m) return null;
    if (value === null) return { sign: 0, size: 0, height: 0, amount: 0, words: "not comparable" };
    const v = turned ? -value : value;
    const amount = Math.abs(v);
    const sign = Math.sign(v);
    const [who, other] = sign > 0 ? [A, B] : [B, A];
    if (column.kind === "ahead") {
      const [x, y] = turned ? [column.b[q], column.a[q]] : [column.a[q], column.b[q]];
      return { sign, size: amount, height: v, amount, words: `${A} is ahead at ${x} recall levels, ${B} at ${y} (preference ${round(v)})` };
    }
    if (column.kind === "level") {
      const m = data.queries[q].m;
      if (!sign) return { sign, size: 1, height: 0, amount, words: "both reach every recall level at the same rank" };
      const [x, y] = turned ? [column.b[q], column.a[q]] : [column.a[q], column.b[q]];
      const [first, last] = sign > 0 ? [x, y] : [y, x];
      const size = first === null ? 1 : last === null ? Infinity : Math.max(last / first, first / last);
      const height = sign * (size === Infinity ? Infinity : Math.log10(size) + 0.05);
      const level = column.level[q];
      const reach = `${who} has its ${ordinal(level)} relevant document (of ${m}) at rank ${first ?? "–"}, `;
      const lost = last === null ? `${other} does not retrieve that many` : `${other} at rank ${last}`;
      const tied = column.tied[q] ? `; the ${column.tied[q]} level${column.tied[q] > 1 ? "s" : ""} compared before tie${column.tied[q] > 1 ? "" : "s"}` : "";
      return { sign, size, height, amount, ranks: [x, y], words: reach + lost + tied };
    }
    return { sign, size: amount, height: v, amount, words: sign ? `${who} is preferred` : "neither is preferred" };
  };
  // Decision of a query by the second criterion; null if none is chosen, or the query does not count for it.
  const second = (q) => (now.against === null ? null : decision(q, now.against));
  const disagree = (one, two) => Boolean(two && one.sign * two.sign < 0);
  // What unjudged documents could change: the depth and what counts, where the winner of a query can be another one.
  const leftOpen = (q) => {
    const known = data.open[now.kind.place];
    const at = pairs.get(`${now.a} ${now.b}`) ?? pairs.get(`${now.b} ${now.a}`);
    return known && at !== undefined && known.queries[at][q] === "1" ? known : null;
  };
  const couldDecide = ({ depth, cutoff, shared }, rank, there = Infinity) => {
    const cut = (r) => (cutoff === null || r <= cutoff ? r : Infinity);
    return Math.min(rank, there) <= depth && (shared || cut(rank) !== cut(there));
  };
  const isLevel = () => !now.kind.values && data.decided.some((columns) => columns[now.kind.place].kind === "level");

  // -- rankings ----------------------------------------------------------------------------------

  const ranking = (run, q) => {
    const { doc, step, depth } = data.rankings[run];
    let rank = 0;
    return { depth: depth[q], documents: doc[q].map((number, i) => ({ number, rank: (rank += step[q][i]) })) };
  };
  const relevant = (q, number) => (data.grades[q][number] ?? 0) >= data.rel && data.grades[q][number] !== null;

  const list = (element, run, other, otherName, q, deciding) => {
    const { depth, documents } = ranking(run, q);
    const elsewhere = new Map(ranking(other, q).documents.map(({ number, rank }) => [number, rank]));
    const open = leftOpen(q);
    const items = [];
    const gap = (count, end) => {
      if (count <= 0) return;
      const what = end <= data.depth ? (data.unjudged ? "not shown" : "unjudged") : "not shown";
      items.push(html("li", "gap", `⋯ ${count} document${count > 1 ? "s" : ""} ${what}`));
    };
    let last = 0;
    for (const { number, rank } of documents) {
      gap(rank - last - 1, rank - 1);
      last = rank;
      const grade = data.grades[q][number];
      const item = html("li", rank === deciding ? "decides" : "");
      item.dataset.number = number;
      const badge = html("span", `grade ${grade === null ? "unjudged" : relevant(q, number) ? "relevant" : ""}`, grade ?? "–");
      badge.title = grade === null ? "no judgment" : `grade ${grade}`;
      const name = html("span", "doc", data.docs[q][number]);
      if (rank === deciding) name.prepend(html("b", "", "◆ decides: "));
      const there = elsewhere.get(number);
      if (grade === null && open && couldDecide(open, rank, there)) {
        item.classList.add("could");
        name.prepend(html("b", "", "◇ could decide: "));
      }
      const text = texts.get(data.docs[q][number]);
      if (text) name.append(html("span", "text", text));
      items.push(item);
      item.append(html("span", "rank", rank), badge, name);
      if (there !== undefined || relevant(q, number)) {
        const where = html("span", "other", there === undefined ? "⇄ –" : `⇄ ${there}`);
        where.title = there === undefined ? `not retrieved by ${otherName}` : `rank ${there} in ${otherName}`;
        item.append(where);
      }
    }
    gap(depth - last, depth);
    const there = new Set(documents.map(({ number }) => number));
    const missed = data.docs[q].map((_, number) => number).filter((number) => relevant(q, number) && !there.has(number));
    items.push(html("li", "gap end", depth ? `end of the ranking: ${depth} documents` : "no documents for this query"));
    for (const number of missed) {
      const item = html("li", "missed");
      item.dataset.number = number;
      const badge = html("span", "grade", data.grades[q][number]);
      const name = html("span", "doc", `not retrieved: ${data.docs[q][number]}`);
      const text = texts.get(data.docs[q][number]);
      if (text) name.append(html("span", "text", text));
      const rank = elsewhere.get(number);
      item.append(html("span", "rank", "–"), badge, name);
      if (rank !== undefined) item.append(html("span", "other", `⇄ ${rank}`));
      items.push(item);
    }
    element.replaceChildren(...items);
    element.setAttribute("aria-label", `Ranking of ${data.runs[run]} for query ${data.queries[q].id}`);
    const lit = element.querySelector(deciding === null ? ".end" : ".decides");
    element.scrollTop = lit ? lit.offsetTop - element.offsetTop - element.clientHeight / 2 : 0;
  };

  const profile = (q) => {
    const picture = $("profile");
    const width = Math.max(320, picture.clientWidth || 800);
    const [left, top, line] = [Math.min(180, width * 0.35), 18, 16];
    const found = data.runs.map((_, run) => ranking(run, q).documents.filter(({ number }) => relevant(q, number)));
    const deepest = Math.max(10, ...found.flat().map(({ rank }) => rank));
    const x = (rank) => left + 8 + (Math.log10(rank) / Math.log10(deepest)) * (width - left - 20);
    const parts = [];
    for (let tick = 1; tick <= deepest; tick *= 10) {
      const anchor = x(tick) > width - 40 ? "end" : "middle";
      parts.push(svg("path", { class: "grid", d: `M${x(tick)} ${top - 4}V${top + line * data.runs.length}` }));
      parts.push(svg("text", { x: x(tick), y: 11, "text-anchor": anchor }, tick === 1 ? "rank 1" : tick));
    }
    data.runs.forEach((name, run) => {
      const group = svg("g", { class: run === now.a ? "a" : run === now.b ? "b" : "" });
      const y = top + line * run + line / 2;
      const short = name.length > left / 7 ? name.slice(0, left / 7 - 1) + "…" : name;
      const text = svg("text", { class: "name", x: 0, y: y + 4 }, short);
      text.append(svg("title", {}, name));
      group.append(text, ...found[run].map(({ rank }) => svg("circle", { class: "dot", cx: x(rank), cy: y, r: 3.5 })));
      parts.push(group);
    });
    picture.setAttribute("viewBox", `0 0 ${width} ${top + line * data.runs.length}`);
    const words = found.map((documents, run) => `${data.runs[run]}: ${documents.map(({ rank }) => rank).join(", ") || "none"}`);
    picture.setAttribute("aria-label", `Ranks of the relevant documents of query ${data.queries[q].id}. ${words.join("; ")}`);
    picture.replaceChildren(...parts);
  };

  // -- the parts of the browser --------------------------------------------------------------------

  const words = (q, { sign, words }) => {
    const who = sign > 0 ? `${data.runs[now.a]} wins` : sign < 0 ? `${data.runs[now.b]} wins` : "Tie";
    return `${who}: ${words}.`;
  };

  const show = (q) => {
    now.query = q;
    const query = data.queries[q];
    const [decided, rival] = [decision(q), second(q)];
    $("query-text").textContent = query.text ? `${query.id}: ${query.text}` : `Query ${query.id}`;
    const open = leftOpen(q);
    const could = open ? ` Unjudged documents of the top ${open.depth} could change the winner.` : "";
    const both = rival ? `By ${now.kind.short}, ${words(q, decided)} By ${now.against.short}, ${words(q, rival)}` : words(q, decided);
    $("verdict").textContent = `${both} ${query.m} relevant document${query.m === 1 ? "" : "s"}.${could}`;
    $("query").value = q;
    $("name-a").textContent = data.runs[now.a];
    $("name-b").textContent = data.runs[now.b];
    const [x, y] = decided.ranks ?? rival?.ranks ?? [];
    list($("list-a"), now.a, now.b, data.runs[now.b], q, x);
    list($("list-b"), now.b, now.a, data.runs[now.a], q, y);
    profile(q);
    const place = now.shown.findIndex((shown) => shown.q === q);
    const bars = $("bars");
    bars.querySelector(".chosen")?.classList.remove("chosen");
    bars.querySelector(`[data-q="${q}"]`)?.classList.add("chosen");
    bars.setAttribute("aria-valuenow", place + 1);
    bars.setAttribute("aria-valuetext", `${place + 1} of ${now.shown.length}, query ${query.id}. ${words(q, decided)}`);
  };

  const draw = () => {
    const bars = $("bars");
    const [width, height] = [Math.max(280, bars.clientWidth || 1000), 176];
    const middle = height / 2;
    const finite = now.shown.map(({ height }) => Math.abs(height)).filter(Number.isFinite);
    const largest = Math.max(1e-9, ...finite) * (now.shown.some(({ height }) => !Number.isFinite(height)) ? 1.15 : 1);
    const step = width / Math.max(1, now.shown.length);
    const wide = Math.max(1, Math.min(18, step - (step > 4 ? 1.5 : 0)));
    const parts = [svg("path", { class: "ground", d: `M0 ${middle}H${width}` })];
    now.shown.forEach(({ q, height: value, sign, words: said }, i) => {
      const tall = sign ? Math.max(2, (Math.min(largest, Math.abs(value)) / largest) * (middle - 16)) : 3;
      const y = sign > 0 ? middle - tall : sign < 0 ? middle : middle - 1.5;
      const bar = svg("g", { "data-q": q, class: sign > 0 ? "a" : sign < 0 ? "b" : "tie" });
      const x = i * step + (step - wide) / 2;
      bar.append(svg("title", {}, `${data.queries[q].id}: ${words(q, { sign, words: said })}`));
      bar.append(svg("rect", { x: i * step, y: 0, width: step, height, "fill-opacity": 0 }));
      bar.append(svg("rect", { x, y, width: wide, height: tall }));
      parts.push(bar);
    });
    const label = (x, y, anchor, text) => parts.push(svg("text", { x, y, "text-anchor": anchor }, text));
    const cut = (name) => (name.length > 40 ? name.slice(0, 39) + "…" : name);
    if (now.shown.length) {
      const by = now.against ? ` by ${now.kind.short}` : "";
      label(0, 11, "start", `▲ ${cut(data.runs[now.a])} wins${by}`);
      label(width, height - 4, "end", `▼ ${cut(data.runs[now.b])} wins${by}`);
      const [first, last] = [now.shown[0], now.shown[now.shown.length - 1]];
      if (first.sign > 0) label(0, middle + 14, "start", data.queries[first.q].id.slice(0, 24));
      if (last.sign < 0 && last !== first) label(width, middle - 5, "end", data.queries[last.q].id.slice(0, 24));
    }
    bars.setAttribute("viewBox", `0 0 ${width} ${height}`);
    bars.setAttribute("aria-valuemax", Math.max(1, now.shown.length));
    bars.replaceChildren(...parts);
  };

  const byTurn = (one, two) => turns[one.q] - turns[two.q];
  const byWinner = (one, two) => two.sign - one.sign || (two.height === one.height ? byTurn(one, two) : two.height - one.height);
  const byStrength = (one, two) => two.strength - one.strength || byTurn(one, two);
  // Queries on which the two criteria prefer different runs; their bars show how strongly.
  const disagreements = (queries) => queries.flatMap((query) => {
    const rival = second(query.q);
    if (!disagree(query, rival)) return [];
    const strength = query.amount * rival.amount;
    return [{ ...query, strength, height: query.sign * strength }];
  });
  const count = (queries, sign) => queries.filter((query) => query.sign === sign).length;
  const tally = (all) => {
    const ties = count(all, 0);
    return `${data.runs[now.a]} wins ${count(all, 1)}, ${data.runs[now.b]} wins ${count(all, -1)}, ${ties} ${ties === 1 ? "tie" : "ties"}.`;
  };
  const tallyOfBoth = (all, opposed) => {
    const [one, two] = [now.kind.short, now.against.short];
    const [A, B] = [data.runs[now.a], data.runs[now.b]];
    const either = data.queries.filter((_, q) => decision(q) !== null || second(q) !== null).length;
    const same = all.filter((query) => query.sign !== 0 && query.sign === second(query.q)?.sign).length;
    return `${one} and ${two} prefer different runs on ${opposed.length} of ${either} queries: `
      + `${one} prefers ${A} on ${count(opposed, 1)} and ${B} on ${count(opposed, -1)}. `
      + `They prefer the same run on ${same}. Strongest disagreement first.`;
  };
  const chooseCriterion = (place) => {
    now.kind = data.criteria[place];
    now.against = null;
    const others = data.criteria.filter((criterion) => criterion !== now.kind);
    fill($("against"), [["", "–"], ...others.map((criterion) => [criterion.place, criterion.short])]);
    $("against").disabled = !others.length;
  };

  const update = (keep = true) => {
    const level = isLevel();
    $("least-label").textContent = level ? "one rank at least this many times the other" : "difference at least";
    const least = parseFloat($("least").value) || 0;
    const enough = parseInt($("relevant").value, 10) || 0;
    const winner = $("winner").value;
    const all = data.queries.map((query, q) => ({ q, m: query.m, decided: decision(q) }))
      .filter(({ decided }) => decided !== null).map(({ q, m, decided }) => ({ q, m, ...decided }));
    const listed = now.against ? disagreements(all) : all;
    now.shown = listed
      .filter(({ sign, size, m }) => (winner === "any" || sign === { a: 1, b: -1, tie: 0 }[winner]) && size >= least && m >= enough)
      .sort(now.against ? byStrength : byWinner);
    const part = now.shown.length < listed.length ? ` ${now.shown.length} of ${listed.length} queries match the filter.` : "";
    $("tally").textContent = (now.against ? tallyOfBoth(all, listed) : tally(all)) + part;
    fill($("query"), now.shown.map(({ q, sign }) => {
      const text = data.queries[q].text;
      return [q, `${sign > 0 ? "▲" : sign < 0 ? "▼" : "="} ${data.queries[q].id}${text ? ": " + text.slice(0, 70) : ""}`];
    }));
    draw();
    $("view").hidden = !now.shown.length;
    if (!now.shown.length) return;
    show(keep && now.shown.some(({ q }) => q === now.query) ? now.query : now.shown[0].q);
  };
  const choose = (a, b) => {
    [now.a, now.b] = [a, b];
    $("run-a").value = a;
    $("run-b").value = b;
    fill($("winner"), [["any", "any"], ["a", data.runs[a]], ["b", data.runs[b]], ["tie", "neither"]]);
    update();
  };
  const move = (by) => {
    const place = now.shown.findIndex(({ q }) => q === now.query);
    const to = by === -Infinity ? 0 : by === Infinity ? now.shown.length - 1 : place + by;
    if (now.shown[to]) show(now.shown[to].q);
  };

  // Show the queries of a collection: all that depends on the data.
  const open = async (place) => {
    try {
      data = JSON.parse(await unpack(collections[place]));
    } catch {
      $("unreadable").hidden = false;
      return false;
    }
    texts = new Map(data.texts); // documents may be called like properties of objects
    data.criteria.forEach((criterion, place) => (criterion.place = place));
    pairs = new Map(data.pairs.map(([a, b], i) => [`${a} ${b}`, i]));
    const numbers = data.queries.map(({ id }) => (/^-?\d+$/.test(id) ? Number(id) : NaN));
    turns = numbers.some(Number.isNaN) ? numbers.map((_, q) => q) : numbers;
    now = { a: data.pairs[0][0], b: data.pairs[0][1], query: null, shown: [] };
    chooseCriterion(0);
    $("scope").textContent = collections[place].dataset.scope;
    fill($("run-a"), data.runs.map((name, i) => [i, name]));
    fill($("run-b"), data.runs.map((name, i) => [i, name]));
    fill($("by"), data.criteria.map(({ short }, i) => [i, short]));
    $("least").value = 0;
    $("relevant").value = 0;
    $("browser").hidden = false;
    choose(now.a, now.b);
    return true;
  };
  if (!(await open(0))) return;
  $("collection")?.addEventListener("change", () => open(+$("collection").value));
  for (const [id, other] of [["run-a", "run-b"], ["run-b", "run-a"]]) {
    $(id).addEventListener("change", () => {
      const [a, b] = [+$("run-a").value, +$("run-b").value];
      if (a !== b) return choose(a, b);
      return id === "run-a" ? choose(a, now.a) : choose(now.b, b); // the two change places
    });
  }
  $("by").addEventListener("change", () => {
    chooseCriterion(+$("by").value);
    $("least").value = 0;
    update();
  });
  $("against").addEventListener("change", () => {
    now.against = data.criteria[$("against").value] ?? null;
    update(false);
  });
  for (const id of ["winner", "least", "relevant"]) $(id).addEventListener("input", () => update());
  $("query").addEventListener("change", () => show(+$("query").value));
  $("previous").addEventListener("click", () => move(-1));
  $("next").addEventListener("click", () => move(1));
  const keys = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };
  $("bars").addEventListener("keydown", (event) => {
    if (!(event.key in keys)) return;
    event.preventDefault();
    move(keys[event.key]);
  });
  $("bars").addEventListener("click", (event) => {
    const bar = event.target.closest("[data-q]");
    if (bar) show(+bar.dataset.q);
  });
  for (const id of ["list-a", "list-b"]) {
    $(id).addEventListener("mouseover", (event) => {
      const number = event.target.closest("[data-number]")?.dataset.number;
      for (const item of document.querySelectorAll(".two [data-number]")) {
        item.classList.toggle("same", item.dataset.number === number);
      }
    });
  }
  for (const table of document.querySelectorAll(".heatmap")) {
    table.addEventListener("click", (event) => {
      const cell = event.target.closest("[data-a]");
      const [a, b] = cell ? [cell.dataset.a, cell.dataset.b].map((name) => data.runs.indexOf(name)) : [-1, -1];
      if (a < 0 || b < 0) return;
      choose(a, b);
      $("queries").scrollIntoView();
    });
  }
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    draw();
    if (now.query !== null && now.shown.length) show(now.query);
  });
})();
