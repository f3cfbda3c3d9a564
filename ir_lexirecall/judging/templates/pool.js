"use strict";
(() => {
  const pool = JSON.parse(document.getElementById("pool").textContent);
  const at = id => document.getElementById(id);
  const memory = "ir-lexirecall pool " + pool.fingerprint;
  const memoryOfName = "ir-lexirecall judge";
  const grades = new Map();
  let place = 0;

  const trouble = text => { at("trouble").textContent = text; at("trouble").hidden = !text; };

  function remember() {
    try {
      localStorage.setItem(memory, JSON.stringify([...grades]));
      localStorage.setItem(memoryOfName, at("name").value);
    } catch {
      trouble("This browser cannot keep judgments: save them before you close the page.");
    }
  }

  function recall() {
    try {
      at("name").value = localStorage.getItem(memoryOfName) ?? "";
      for (const [number, grade] of JSON.parse(localStorage.getItem(memory) ?? "[]")) {
        if (number < pool.documents.length && grade < pool.grades.length) grades.set(number, grade);
      }
    } catch {
      trouble("The judgments kept in this browser cannot be read; start again.");
    }
  }

  // Not disabled, which would lose the focus of who has just pressed it.
  const able = (id, is) => at(id).setAttribute("aria-disabled", String(!is));

  const nextUnjudged = from => {
    const numbers = pool.documents.keys();
    const order = [...numbers].map(i => (from + i) % pool.documents.length);
    return order.find(number => !grades.has(number)) ?? -1;
  };

  function row(run, rank) {
    const line = document.createElement("tr");
    for (const [text, kind] of [[run, ""], [rank, "number"]]) {
      const cell = document.createElement("td");
      cell.textContent = text;
      cell.className = kind;
      line.append(cell);
    }
    return line;
  }

  function show() {
    const document_ = pool.documents[place];
    at("query-id").textContent = document_.query;
    at("query-text").textContent = Object.hasOwn(pool.queries, document_.query) ? pool.queries[document_.query] : "";
    at("doc-id").textContent = document_.doc;
    at("text").textContent = document_.text ?? "No text: look the document up by its id.";
    const found = document_.ranks.map((rank, run) => [pool.runs[run], rank]).filter(pair => pair[1] !== null);
    found.sort((one, other) => one[1] - other[1]);
    at("runs").textContent = `Retrieved by ${found.length} of ${pool.runs.length} run${pool.runs.length === 1 ? "" : "s"}`;
    at("ranks").replaceChildren(...found.map(pair => row(...pair)));
    for (const [grade, button] of [...at("grades").children].entries()) {
      button.setAttribute("aria-pressed", String(grades.get(place) === grade));
    }
    able("previous", place > 0);
    able("next", place < pool.documents.length - 1);
    able("unjudged", grades.size < pool.documents.length);
    able("clear", grades.has(place));
    able("save", grades.size > 0);
    delete at("forget").dataset.sure;
    at("forget").textContent = "clear all judgments";
    const done = grades.size === pool.documents.length ? " All are judged: save them." : "";
    at("progress").textContent = `Document ${place + 1} of ${pool.documents.length}; ${grades.size} judged.${done}`;
    at("bar").value = grades.size / pool.documents.length;
    const query = [`Query ${document_.query}`, at("query-text").textContent].filter(Boolean).join(": ");
    at("now").textContent = `${query}; document ${document_.doc}. ${at("progress").textContent}`;
  }

  function go(number) {
    if (number < 0 || number >= pool.documents.length) return;
    place = number;
    show();
    at("text").scrollTop = 0;
    window.scrollTo(0, 0);
  }

  function judge(grade) {
    grades.set(place, grade);
    remember();
    const next = nextUnjudged(place + 1);
    go(next < 0 ? place : next);
    at("doc-id").focus({preventScroll: true});
  }

  function takeBack() {
    if (!grades.has(place)) return;
    grades.delete(place);
    remember();
    show();
  }

  function qrels() {
    const name = at("name").value.trim().replace(/[^\p{L}\p{N}_-]+/gu, "-");
    const file = name ? `judged-${name}` : "judged";
    const judged = [...grades].sort((one, other) => one[0] - other[0]).map(([number, grade]) => [pool.documents[number], grade]);
    if (!judged.some(([d]) => /\s/.test(d.query + d.doc))) {
      return [judged.map(([d, grade]) => `${d.query} 0 ${d.doc} ${grade}\n`).join(""), `${file}.qrels`, "text/plain"];
    }
    const byQuery = new Map();
    for (const [d, grade] of judged) {
      byQuery.set(d.query, [...(byQuery.get(d.query) ?? []), `${JSON.stringify(d.doc)}: ${grade}`]);
    }
    const queries = [...byQuery].map(([query, docs]) => `${JSON.stringify(query)}: {${docs.join(", ")}}`);
    return [`{${queries.join(",\n")}}\n`, `${file}.json`, "application/json"];
  }

  function save() {
    if (!grades.size) return;
    const [text, name, type] = qrels();
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], {type: type + ";charset=utf-8"}));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function forget() {
    if (!at("forget").dataset.sure) {
      at("forget").dataset.sure = "yes";
      at("forget").textContent = "really clear all? press again";
      return;
    }
    grades.clear();
    remember();
    go(0);
  }

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === at("name") || !pool.documents.length) return;
    const grade = /^[0-9]$/.test(event.key) ? Number(event.key) : -1;
    if (grade >= 0 && grade < pool.grades.length) judge(grade);
    else if (event.key === "ArrowLeft") go(place - 1);
    else if (event.key === "ArrowRight") go(place + 1);
    else if (event.key.toLowerCase() === "n") go(nextUnjudged(place + 1));
    else if (event.key === "Backspace") takeBack();
    else if (event.key.toLowerCase() === "s") save();
    else return;
    event.preventDefault();
  }

  for (const [grade, meaning] of pool.grades.entries()) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = meaning ? `${grade} ${meaning}` : String(grade);
    if (grade < 10) button.setAttribute("aria-keyshortcuts", String(grade));
    button.addEventListener("click", () => judge(grade));
    at("grades").append(button);
  }
  at("previous").addEventListener("click", () => go(place - 1));
  at("next").addEventListener("click", () => go(place + 1));
  at("unjudged").addEventListener("click", () => go(nextUnjudged(place + 1)));
  at("clear").addEventListener("click", takeBack);
  at("save").addEventListener("click", save);
  at("forget").addEventListener("click", forget);
  at("name").addEventListener("input", remember);
  document.addEventListener("keydown", key);
  recall();
  if (pool.documents.length) {
    at("judge").hidden = false;
    go(Math.max(0, nextUnjudged(0)));
  } else {
    at("progress").textContent = "There is nothing to judge.";
  }
})();
