"""What is said of the measures of recall: TSE, LexiRecall, SL3, RE."""

from __future__ import annotations

from ir_lexirecall.descriptions.base import Entry, Example

_RANKS = "m: relevant documents of the query; r: how many of them were retrieved; p_1 < ... < p_r: their ranks"

ENTRIES: dict[str, Entry] = {
    "TSE": Entry(
        formula=r"\mathrm{TSE}_e = e(p_m), \quad e(i) = \frac{1}{i}",
        plain="TSE = e(p_m), by default e(i) = 1/i",
        symbols=f"{_RANKS}; e(i): exposure of rank i (1/i, 1/log2(i+1), (1-p) p^(i-1) or 1 - i/n); a missing document has rank "
        "n, infinity without n (impute='pessimistic'), or follows the ranking at once ('optimistic')",
        values="0 to 1",
        zero="a relevant document is missing (with n, the value is e(n) instead), or the query has none",
        ties="the last relevant document stands at the same rank, whatever the others do; all rankings that miss one, without n",
        use="when a user needs every relevant document: reviews, patents, law; and to see the worst-off user or provider",
        example=Example("TSE", (1, 0, 0, 1), 1 / 4, "The last relevant document has rank 4: e(4) = 1/4."),
        source="diaz2026",
        see_also=("LexiRecall", "SL3", "RE", "R", "RR"),
    ),
    "LexiRecall": Entry(
        formula=r"\mathrm{LR} = \frac{r + r / p^*}{m + 1}, \quad p^* = (p_r - 1) + \frac{N' + 1}{\binom{p_r - 1}{r - 1}}, \quad "
        r"N' = \sum_{i<r} \binom{p_i - 1}{i}",
        plain="LR = (r + r/p*) / (m + 1), p* = (p_r - 1) + (N' + 1) / C(p_r - 1, r - 1), N' = sum over i < r of C(p_i - 1, i)",
        symbols=f"{_RANKS}; N': how many placements of the first r - 1 are better; C(a, b): binomial coefficient; "
        "form='weighted' is metric lexirecall instead (Eq. 12 of the source)",
        values="0 to 1; with r of m retrieved in (r/(m+1), (r+1)/(m+1)]",
        zero="no relevant document is retrieved, or the query has none",
        ties="only the same ranks of the relevant documents; rounded to a float, also rankings that share their whole tail "
        "(compare() tells them apart)",
        use="when recall comes first and ties of recall should still be decided: the last relevant document, then the one before",
        example=Example(
            "LR",
            (1, 0, 1),
            14 / 15,
            "r = m = 2, p_1 = 1, p_2 = 3: N' = C(0, 1) = 0, p* = 2 + 1/C(2, 1) = 2.5, so (2 + 2/2.5) / 3 = 14/15.",
        ),
        source="diaz2026",
        see_also=("TSE", "R", "SL3", "RE"),
    ),
    "SL3": Entry(
        formula=r"\mathrm{SL3} = p_m - m",
        plain="SL3 = p_m - m",
        symbols=f"{_RANKS}; missing documents end the collection of n, without n the value is infinite",
        values="0 to n - m, or infinite without n; smaller is better",
        zero="the ideal ranking, or a query without relevant documents",
        ties="the last relevant document stands at the same rank",
        use="when effort counts in documents: nonrelevant ones that a user passes to find everything; give n",
        example=Example("SL3", (1, 0, 0, 1), 2.0, "The last of m = 2 relevant documents has rank 4: 4 - 2 = 2."),
        source="cooper1968",
        see_also=("RE", "TSE"),
    ),
    "RE": Entry(
        formula=r"\mathrm{RE} = \frac{1}{m} \sum_{i=1}^{m} p_i - \frac{m + 1}{2}",
        plain="RE = (1/m) sum of p_i - (m + 1)/2",
        symbols=f"{_RANKS}; the u missing documents stand at ranks n-u+1, ..., n, without n the value is infinite",
        values="0 to n - m, or infinite without n; smaller is better",
        zero="the ideal ranking, or a query without relevant documents",
        ties="the same mean rank of the relevant documents",
        use="when effort counts on average over the relevant documents, not for the last one; give n",
        example=Example("RE", (1, 0, 0, 1), 1.0, "Mean rank (1 + 4)/2 = 2.5, ideal (1 + 2)/2 = 1.5: 2.5 - 1.5 = 1."),
        source="rocchio1966",
        see_also=("SL3", "TSE", "AP"),
    ),
}
