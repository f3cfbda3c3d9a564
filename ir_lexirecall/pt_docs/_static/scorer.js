// Sphinx's scores, except that words which are no name in Python find pages before functions and attributes.
var Scorer = {
  score: ([, , , , score, , kind]) =>
    kind === "object" && /[^\w.]/.test(new URLSearchParams(location.search).get("q").trim()) ? score - 100 : score,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
