"""What is said of the measures of novelty, diversity and several aspects."""

from __future__ import annotations

from math import log2

from ir_lexirecall.descriptions.base import Entry, Example

_TWO = ((1, 0), (1, 0), (0, 1))  # two documents on the first subtopic, one on the second
_BOTH = ((1, None), (None, 1))
_T = "t: subtopics with a relevant document; w_t: their weights, equal unless the qrels have some, of sum 1"
_R = "r(d, t): gain of the document's grade, (2^g - 1)/2^max_rel (gain='exp') or g/max_rel ('linear')"
_ND = (
    "t: the N subtopics with a relevant document; c(i, t): documents above rank i that are relevant to t; "
    "G(i) = sum of (1 - alpha)^c(i, t) over the subtopics t of document i"
)
_NOTHING = "no document relevant to a subtopic is retrieved (down to rank k), or the query has none"
_SAME = "documents of the same subtopics at the same ranks"
_G = "For alpha = 1/2, G = 1, 1/2, 1."
_ALSO = ("alpha_nDCG", "ERR_IA", "NRBP", "StRecall", "RBU")


def _others(name: str) -> tuple[str, ...]:
    return tuple(other for other in _ALSO if other != name)


_DCG = 1 + 0.5 / log2(3) + 1 / 2

ENTRIES: dict[str, Entry] = {
    "RBU": Entry(
        formula=r"\sum_{i \le k} p^i \left( \sum_t w_t\, r(d_i, t) \prod_{j<i} (1 - r(d_j, t)) - e \right)",
        plain="sum over ranks i <= k of p^i (sum_t w_t r(d_i, t) prod_{j<i} (1 - r(d_j, t)) - e)",
        symbols=f"p: persistence; e: effort of reading a document, in units of gain, taken off at every rank (compare runs of the "
        f"same depth; 0: none); {_T}; {_R}",
        values="below 0 (many irrelevant documents) to less than 1; normalize=True: times (1-p)/p",
        zero="an empty ranking, a query without relevant documents, or gain and effort in balance",
        ties="the same grades for all subtopics at the same ranks, and equally long rankings (down to rank k)",
        use="when documents should cover all subtopics without repetition, and long rankings cost effort",
        example=Example(
            "RBU(p=1,e=0.05)", _BOTH, 0.4, "r = 1/2, w = 1/2 for either subtopic: 1/4 + 1/4 - 2 x 0.05 = 0.4."
        ),
        source="amigo2018",
        see_also=("ERR_IA", "alpha_nDCG", "EU", "RBP"),
    ),
    "IA": Entry(
        formula=r"\sum_t w_t\, \mathrm{base}_t",
        plain="sum_t w_t base_t",
        symbols=f"{_T}; base_t: the base measure of the ranking, judged for t alone",
        values="those of the base",
        zero="the base is 0 for every subtopic",
        ties="where the base ties on every subtopic",
        use="to make any measure intent-aware: an average user, whose intent is one of the subtopics",
        example=Example("IA(base='RR')", _BOTH, 3 / 4, "RR is 1 for t1 and 1/2 for t2: (1 + 1/2)/2 = 3/4."),
        source="agrawal2009",
        see_also=("AP_IA", "ERR_IA", "D_nDCG"),
    ),
    "D_nDCG": Entry(
        formula=r"\frac{\sum_{i \le k} g(d_i) / \log_2(i + 1)}{\sum_{i \le k} g(d^*_i) / \log_2(i + 1)}, \quad "
        r"g(d) = \sum_t w_t\, \mathrm{grade}(d, t)",
        plain="nDCG@k of the gain g(d) = sum_t w_t grade(d, t)",
        symbols=f"{_T}; d*_i: the documents in the order of g",
        values="0 to 1",
        zero=_NOTHING,
        ties="the same sums of grades at the same ranks",
        use="when documents for probable intents should stand above; novelty does not count",
        example=Example(
            "D_nDCG",
            ((1, None), (2, 1)),
            (0.5 + 1.5 / log2(3)) / (1.5 + 0.5 / log2(3)),
            "g = 1/2, 3/2: (0.5 + 1.5/log2 3) / (1.5 + 0.5/log2 3) = 0.7967.",
        ),
        source="sakai2011",
        see_also=("DSharp", "nDCG", "IA"),
    ),
    "DSharp": Entry(
        formula=r"\gamma\, \mathrm{StRecall}@k + (1 - \gamma)\, \mathrm{D\_nDCG}@k",
        plain="gamma StRecall@k + (1 - gamma) D_nDCG@k",
        symbols="gamma: weight of subtopic recall",
        values="0 to 1",
        zero=_NOTHING,
        ties="where both parts tie, or their differences balance",
        use="to ask for coverage of the subtopics and for relevance at once (NTCIR's D#-nDCG)",
        example=Example(
            "DSharp@1",
            ((1, None), (2, 1)),
            5 / 12,
            "One of two subtopics: 1/2; D_nDCG@1 = (1/2)/(3/2) = 1/3; (1/2 + 1/3)/2 = 5/12.",
        ),
        source="sakai2011",
        see_also=("D_nDCG", "StRecall"),
    ),
    "EU": Entry(
        formula=r"\sum_{i \le k} \frac{\sum_t w_t\, r(d_i, t)\, (1 - \alpha)^{c} - e}{1 + \log_2 i}",
        plain="sum over ranks i <= k of (sum_t w_t r(d_i, t) (1 - alpha)^c - e) / (1 + log2 i)",
        symbols=f"c: earlier documents with a gain for t; alpha: what repetition loses; e: effort of reading a document; {_T}; {_R}",
        values="below 0 (many irrelevant documents) without upper bound",
        zero="an empty ranking, a query without relevant documents, or gain and effort in balance",
        ties="the same grades for all subtopics at the same ranks, and equally long rankings (down to rank k)",
        use="when repetition should still be worth something and reading costs effort",
        example=Example(
            "EU(e=0,gain='linear')",
            ((1, None), (1, None)),
            5 / 4,
            "One subtopic, r = 1: 1/1 + (1/2)/(1 + log2 2) = 5/4.",
        ),
        source="yang2009",
        see_also=("RBU", "CT", "alpha_DCG"),
    ),
    "CT": Entry(
        formula=r"\sum_{i \le k} \frac{1}{i} \sum_t w_t\, r(d_i, t)\, (1 - \alpha)^{c} f",
        plain="sum over ranks i <= k of (1/i) sum_t w_t r(d_i, t) (1 - alpha)^c f",
        symbols="c: earlier documents with a gain for t; f: 0 once the gains of t have reached the saturation, else 1; "
        f"alpha: what repetition loses; {_T}; {_R}",
        values="0 upwards",
        zero=_NOTHING,
        ties="the same grades for all subtopics at the same ranks; what comes for a full subtopic does not count",
        use="when a subtopic needs a certain amount of material and no more, soon",
        example=Example(
            "CT(gain='linear',saturation=2)",
            ((1, None), (1, None), (1, None)),
            5 / 4,
            "One subtopic, r = 1: 1 + (1/2)(1/2), and the third document comes when it is full: 5/4.",
        ),
        source="luo2013",
        see_also=("EU", "alpha_DCG"),
    ),
    "SRR": Entry(
        formula=r"\frac{1}{\max_t \min\{i : d_i \text{ is relevant to } t\}}",
        plain="1 / (rank at which every subtopic is covered)",
        symbols="t: subtopics with a relevant document",
        values="0 to 1",
        zero="a subtopic is never covered (down to rank k), or there is none",
        ties="all subtopics are covered at the same rank; all rankings that miss one",
        use="when a user needs something on every subtopic: TSE for subtopics",
        example=Example("SRR", _BOTH, 1 / 2, "t1 is covered at rank 1, t2 at rank 2: 1/2."),
        source="zhai2003",
        see_also=("StRecall", "TSE"),
    ),
    "TOMA": Entry(
        formula=r"\mathrm{base}(w(d_1), w(d_2), \ldots), \quad w(d) = |\{\delta : \delta > \delta(d)\}|",
        plain="the base measure with w(d) for grades, w(d) = number of distinct distances above that of d's labels",
        symbols="delta(d): distance of the document's labels on all aspects to the best labels; delta: the distances of all "
        "combinations of labels",
        values="those of the base",
        zero="that of the base: no document above the farthest labels, for most",
        ties="documents at the same distance are alike; else as the base",
        use="when documents are judged for several aspects (relevance, credibility, ...) and one order of all combinations is wanted",
        example=Example(
            "TOMA(aspects={'relevance':1,'quality':1})",
            ((1, 0), (1, 1)),
            (1 + 2 / log2(3)) / (2 + 1 / log2(3)),
            "(1, 1) has distance 0 and weight 2, (1, 0) distance 1 and weight 1, (0, 0) weight 0: nDCG of 1, 2.",
            names=("relevance", "quality"),
        ),
        source="maistro2021",
        see_also=("CAM", "MM", "nDCG"),
    ),
    "CAM": Entry(
        formula=r"\sum_a p_a\, \mathrm{base}_a",
        plain="sum_a p_a base_a",
        symbols="base_a: the base measure of the grades for aspect a; p_a: weights of sum 1, equal by default",
        values="those of the base",
        zero="the base is 0 for every aspect",
        ties="where the base ties on every aspect, or differences balance",
        use="when aspects can make up for each other",
        example=Example(
            "CAM(aspects={'relevance':1,'quality':1},base='RR')",
            ((1, 0), (0, 1)),
            3 / 4,
            "RR is 1 by relevance and 1/2 by quality: (1 + 1/2)/2 = 3/4.",
            names=("relevance", "quality"),
        ),
        source="lioma2017",
        see_also=("MM", "TOMA"),
    ),
    "MM": Entry(
        formula=r"\frac{\sum_a p_a}{\sum_a p_a / \mathrm{base}_a}",
        plain="sum_a p_a / sum_a (p_a / base_a)",
        symbols="base_a: the base measure of the grades for aspect a; p_a: weights, equal by default",
        values="those of the base",
        zero="the base is 0 for some aspect",
        ties="where the base ties on every aspect, or differences balance; all rankings with an aspect at 0",
        use="when every aspect must be served: a bad one pulls the value down",
        example=Example(
            "MM(aspects={'relevance':1,'quality':1},base='RR')",
            ((1, 0), (0, 1)),
            2 / 3,
            "RR is 1 by relevance and 1/2 by quality: 2/(1 + 2) = 2/3.",
            names=("relevance", "quality"),
        ),
        source="palotti2018",
        see_also=("CAM", "TOMA"),
    ),
    "alpha_DCG": Entry(
        formula=r"\frac{\sum_{i \le k} G(i) / \log_2(i + 1)}{N \sum_{i \le k} (1 - \alpha)^{i-1} / \log_2(i + 1)}",
        plain="sum over i <= k of G(i)/log2(i+1), over N sum (1 - alpha)^(i-1)/log2(i+1) (not at k = 1)",
        symbols=_ND,
        values="0 to 1 (at k = 1, 0 to N)",
        zero=_NOTHING,
        ties=_SAME,
        use="novelty with nDCG's discount, on a scale that is the same for all collections",
        example=Example(
            "alpha_DCG@3",
            _TWO,
            _DCG / (2 * (1 + 0.5 / log2(3) + 0.125)),
            f"{_G} (1 + 0.5/log2 3 + 1/2) / (2 (1 + 0.5/log2 3 + 0.25/2)) = 0.6301.",
        ),
        source="clarke2008",
        see_also=_others("alpha_DCG"),
    ),
    "alpha_nDCG": Entry(
        formula=r"\frac{\sum_{i \le k} G(i) / \log_2(i + 1)}{\text{the same of the greedy ideal ranking}}",
        plain="sum over i <= k of G(i)/log2(i+1), over that of the greedy ideal ranking",
        symbols=_ND,
        values="0 to 1 (the greedy ranking is not always the best: rarely above 1)",
        zero=_NOTHING,
        ties=_SAME,
        use="the usual measure of novelty and diversity",
        example=Example(
            "alpha_nDCG@3",
            _TWO,
            _DCG / (1 + 1 / log2(3) + 0.25),
            f"{_G} The ideal order has 1, 1, 1/2: (1 + 0.5/log2 3 + 1/2) / (1 + 1/log2 3 + 0.5/2) = 0.9652.",
        ),
        source="clarke2008",
        see_also=_others("alpha_nDCG"),
    ),
    "ERR_IA": Entry(
        formula=r"\frac{\sum_{i \le k} G(i) / i}{N \sum_{i \le k} (1 - \alpha)^{i-1} / i}, \quad \alpha = \tfrac{1}{2}",
        plain="sum over i <= k of G(i)/i, over N sum (1 - alpha)^(i-1)/i (not at k = 1), alpha = 1/2",
        symbols=_ND,
        values="0 to 1 (at k = 1, 0 to N)",
        zero=_NOTHING,
        ties=_SAME,
        use="when one document for each subtopic is what counts, early",
        example=Example(
            "ERR_IA@3",
            _TWO,
            (1 + 1 / 4 + 1 / 3) / (2 * (1 + 1 / 4 + 1 / 12)),
            f"{_G} (1 + 1/4 + 1/3) / (2 (1 + 1/4 + 1/12)) = 0.5938.",
        ),
        source="chapelle2009",
        see_also=_others("ERR_IA"),
    ),
    "nERR_IA": Entry(
        formula=r"\frac{\sum_{i \le k} G(i) / i}{\text{the same of the greedy ideal ranking}}, \quad \alpha = \tfrac{1}{2}",
        plain="sum over i <= k of G(i)/i, over that of the greedy ideal ranking, alpha = 1/2",
        symbols=_ND,
        values="0 to 1",
        zero=_NOTHING,
        ties=_SAME,
        use="ERR_IA relative to what the collection allows",
        example=Example(
            "nERR_IA@3", _TWO, 0.95, f"{_G} The ideal order has 1, 1, 1/2: (19/12) / (1 + 1/2 + 1/6) = 0.95."
        ),
        source="chapelle2009",
        see_also=_others("nERR_IA"),
    ),
    "NRBP": Entry(
        formula=r"\frac{1 - (1 - \alpha)\beta}{N} \sum_i G(i)\, \beta^{i-1}",
        plain="(1 - (1 - alpha) beta)/N sum of G(i) beta^(i-1)",
        symbols=f"beta: persistence; {_ND}",
        values="0 to 1",
        zero=_NOTHING,
        ties=_SAME,
        use="novelty for users who go on with probability beta; no cutoff is needed",
        example=Example("NRBP", _TWO, 9 / 16, f"{_G} beta = 1/2: (3/4)/2 x (1 + 1/4 + 1/4) = 9/16."),
        source="clarke2009",
        see_also=_others("NRBP"),
        meanings={"beta": "persistence: probability of going on to the next document"},
    ),
    "nNRBP": Entry(
        formula=r"\frac{\sum_i G(i)\, \beta^{i-1}}{\text{the same of the greedy ideal ranking}}",
        plain="sum of G(i) beta^(i-1), over that of the greedy ideal ranking",
        symbols=f"beta: persistence; {_ND}",
        values="0 to 1",
        zero=_NOTHING,
        ties=_SAME,
        use="NRBP relative to what the collection allows",
        example=Example(
            "nNRBP", _TWO, 12 / 13, f"{_G} The ideal order has 1, 1, 1/2: (3/2) / (1 + 1/2 + 1/8) = 12/13."
        ),
        source="clarke2009",
        see_also=_others("nNRBP"),
        meanings={"beta": "persistence: probability of going on to the next document"},
    ),
    "AP_IA": Entry(
        formula=r"\frac{1}{N} \sum_t \mathrm{AP}_t",
        plain="mean over the N subtopics of average precision",
        symbols="t: the N subtopics with a relevant document; AP_t: average precision, judged for t alone",
        values="0 to 1",
        zero=_NOTHING,
        ties="where AP ties on every subtopic, or differences balance",
        use="recall of every subtopic, averaged over intents",
        example=Example("AP_IA", _TWO, 2 / 3, "AP is 1 for t1 and 1/3 for t2: 2/3."),
        source="agrawal2009",
        see_also=("IA", "AP", "P_IA"),
    ),
    "P_IA": Entry(
        formula=r"\frac{1}{k N} \sum_t |\{i \le k : d_i \text{ is relevant to } t\}|",
        plain="documents of all subtopics relevant among the first k, over k N",
        symbols="t: the N subtopics with a relevant document",
        values="0 to 1",
        zero=_NOTHING,
        ties="as many relevant documents of all subtopics among the first k",
        use="precision averaged over intents; repetition counts in full",
        example=Example("P_IA@3", _TWO, 1 / 2, "Two documents for t1, one for t2: 3/(3 x 2) = 1/2."),
        source="agrawal2009",
        see_also=("IA", "P", "AP_IA"),
    ),
    "StRecall": Entry(
        formula=r"\frac{1}{N} |\{t : \text{some } d_i, i \le k, \text{ is relevant to } t\}|",
        plain="subtopics with a relevant document among the first k, over N",
        symbols="t: the N subtopics with a relevant document",
        values="0 to 1",
        zero=_NOTHING,
        ties="as many subtopics covered, wherever",
        use="how many of the subtopics the first k documents cover",
        example=Example("StRecall@2", _TWO, 1 / 2, "The first two documents cover t1 of two subtopics: 1/2."),
        source="zhai2003",
        see_also=("SRR", "DSharp", "alpha_nDCG"),
    ),
}
