"""What is said of the measures that model a user who reads on or stops: the C/W/L family, ERR, RBP."""

from __future__ import annotations

from math import log2, pi

from ir_lexirecall.descriptions.base import Entry, Example

_CWL = (
    "C(i): probability of going on from rank i to i + 1; V(i): share of users who read rank i, V(1) = 1 and V(i+1) = V(i) C(i); "
    "r_i: gain of rank i, (2^g - 1)/2^max_rel of grade g (gain='exp') or g/max_rel ('linear'); value = sum V(i) r_i / sum V(i)"
)
_VALUE = r"\frac{\sum_i V(i)\, r_i}{\sum_i V(i)}, \quad V(1) = 1,\; V(i+1) = V(i)\, C(i)"
_UNIT = "0 to 1: expected gain per document read"
_ZERO = "nothing with a gain is read, or the query has no relevant document"
_TIES = "rankings of the same gains at the same ranks; documents without gain are alike"
_OF_PROGRAM = (
    "V(i): share of users who read rank i; r_i = (g_i - min_rel)/(max_rel - min_rel); rankings are cut or filled up with "
    "unjudged documents to 1,000 ranks; value = sum V(i) r_i / sum V(i)"
)

ENTRIES: dict[str, Entry] = {
    "CWL_ERR8": Entry(
        formula=rf"{_VALUE}, \quad C(i) = 1 - r_i \;(i < k)",
        plain="sum V(i) r_i / sum V(i), C(i) = 1 - r_i below rank k, 0 from k on",
        symbols=_CWL,
        values=_UNIT,
        zero=_ZERO,
        ties=_TIES,
        use="when users stop at the first satisfying document or at rank k, and effort must be counted as in all C/W/L measures",
        example=Example(
            "CWL_ERR8(max_rel=1)@2", (1, 0), 1 / 3, "r_1 = 1/2: V = 1, 1/2, so (1 x 1/2) / (1 + 1/2) = 1/3."
        ),
        source="azzopardi2021",
        see_also=("CWL_ERR9", "CWL_ERR10", "CWL_ERR11", "GERR", "NERR8"),
    ),
    "CWL_ERR9": Entry(
        formula=rf"{_VALUE}, \quad C(i) = \frac{{i}}{{i + 1}} (1 - r_i) \;(i < k)",
        plain="sum V(i) r_i / sum V(i), C(i) = i/(i+1) (1 - r_i) below rank k, 0 from k on",
        symbols=_CWL,
        values=_UNIT,
        zero=_ZERO,
        ties=_TIES,
        use="like CWL_ERR8, for users who lose patience with every rank as well; the closest to ERR of the four",
        example=Example(
            "CWL_ERR9(max_rel=1)@2", (1, 0), 2 / 5, "r_1 = 1/2: V = 1, 1/2 x 1/2, so (1/2) / (1 + 1/4) = 2/5."
        ),
        source="azzopardi2021",
        see_also=("CWL_ERR8", "CWL_ERR10", "CWL_ERR11", "GERR", "NERR9"),
    ),
    "CWL_ERR10": Entry(
        formula=rf"{_VALUE}, \quad C(i) = \phi (1 - r_i)",
        plain="sum V(i) r_i / sum V(i), C(i) = phi (1 - r_i), without end",
        symbols=f"{_CWL}; phi: persistence; summed over infinitely many ranks, exactly",
        values=_UNIT,
        zero=_ZERO,
        ties=_TIES,
        use="when users go on with a probability and stop when satisfied; no cutoff is needed",
        example=Example(
            "CWL_ERR10(phi=0.5,max_rel=1)",
            (1,),
            1 / 3,
            "r_1 = 1/2: V = 1, 1/4, 1/8, ... with the sum 1 + 1/2, so (1/2) / (3/2) = 1/3.",
        ),
        source="azzopardi2021",
        see_also=("CWL_RBP", "CWL_ERR8", "CWL_ERR9", "CWL_ERR11", "NERR10"),
    ),
    "CWL_ERR11": Entry(
        formula=rf"{_VALUE}, \quad C(i) = \left(\frac{{i + 2T - 1}}{{i + 2T}}\right)^2 (1 - r_i)",
        plain="sum V(i) r_i / sum V(i), C(i) = ((i+2T-1)/(i+2T))^2 (1 - r_i), without end",
        symbols=f"{_CWL}; T: gain that the user hopes for; summed over infinitely many ranks, exactly",
        values=_UNIT,
        zero=_ZERO,
        ties=_TIES,
        use="when users want a certain amount of gain and stop when satisfied; larger T, deeper readers",
        example=Example(
            "CWL_ERR11(T=1,max_rel=1)",
            (1,),
            0.5 / (1 + 2 * (pi**2 / 6 - 1.25)),
            "r_1 = 1/2: V(i) = (1/2) (2/(i+1))^2 from rank 2 on, with the sum 2 (pi^2/6 - 5/4), so (1/2) / (1 + 0.7899).",
        ),
        source="azzopardi2021",
        see_also=("CWL_ERR8", "CWL_ERR9", "CWL_ERR10", "NERR11", "INSQ"),
    ),
    "CWL_RBP": Entry(
        formula=r"(1 - \phi) \sum_i \phi^{i-1} r_i",
        plain="(1 - phi) sum of phi^(i-1) r_i, that is C(i) = phi, without end",
        symbols=f"{_CWL}; phi: persistence",
        values=_UNIT,
        zero=_ZERO,
        ties=_TIES,
        use="rank-biased precision beside the ERR variants, with their gains: how much satisfaction changes",
        example=Example("CWL_RBP(phi=0.5,max_rel=1)", (1,), 1 / 4, "r_1 = 1/2: (1 - 1/2) x 1/2 = 1/4."),
        source="azzopardi2021",
        see_also=("CWL_ERR10", "RBP"),
    ),
    "GERR": Entry(
        formula=r"\sum_{i} \frac{r_i}{i} \prod_{j<i} (1 - r_j)",
        plain="sum over ranks i of r_i / i times the product of (1 - r_j) over j < i",
        symbols="r_i: gain of rank i, (2^g - 1)/2^max_rel of grade g (gain='exp') or g/max_rel ('linear'); unjudged='best' gives "
        "unjudged documents the gain of max_rel: with 'worst' it bounds the value",
        values="0 to 1",
        zero=_ZERO,
        ties=_TIES,
        use="ERR for any scale of grades, and its residual; for ir_measures' ERR take max_rel=4",
        example=Example("GERR(max_rel=1)@2", (None, 1), 1 / 4, "r_2 = 1/2 at rank 2: (1/2) / 2 = 1/4."),
        source="chapelle2009",
        see_also=("ERR", "CWL_ERR9", "RR"),
    ),
    "ERR": Entry(
        formula=r"\sum_{i \le k} \frac{r_i}{i} \prod_{j<i} (1 - r_j), \quad r_i = \frac{2^{g_i} - 1}{2^4}",
        plain="sum over ranks i <= k of r_i / i times the product of (1 - r_j) over j < i, r_i = (2^g_i - 1)/16",
        symbols="g_i: grade of rank i, at most 4 (gdeval's scale); r_i: probability that it satisfies the user",
        values="0 to less than 1: grade 4 at rank 1 alone gives 15/16",
        zero="no document of a grade above 0 among the first k",
        ties="rankings of the same grades at the same ranks; what stands below the first satisfying documents changes little",
        use="when one good document is enough, and grades go up to 4; for other scales GERR",
        example=Example(
            "ERR@2", (2, 3), 3 / 16 + 13 / 16 * 7 / 16 / 2, "r = 3/16, 7/16: 3/16 + (1/2) (7/16) (1 - 3/16) = 0.3652."
        ),
        source="chapelle2009",
        see_also=("GERR", "RR", "CWL_ERR9", "NERR9"),
    ),
    "RBP": Entry(
        formula=r"(1 - p) \sum_{i \le k} p^{i-1} g_i",
        plain="(1 - p) sum over ranks i <= k of p^(i-1) g_i",
        symbols="p: persistence; g_i: 1 for a relevant document, else 0; without rel, the grade itself",
        values="0 to 1 with rel; without it 0 to the top grade",
        zero="no relevant document is retrieved (down to rank k)",
        ties="the same gains at the same ranks",
        use="when users go on to the next document with probability p: 0.8 looks at 5 documents on average",
        example=Example("RBP(p=0.5,rel=1)@10", (1, 0, 1), 5 / 8, "(1/2) (1 + 1/4) = 5/8."),
        source="moffat2008",
        see_also=("CWL_RBP", "RBU", "nDCG"),
        meanings={"p": "persistence: probability of going on to the next document"},
    ),
    "nDCG_JK": Entry(
        formula=r"\frac{\mathrm{DCG}}{\mathrm{ideal\ DCG}}, \quad \mathrm{DCG} = \sum_{i \le k} \frac{g_i}{\max(1, \log_a i)}",
        plain="DCG / ideal DCG, DCG = sum over ranks i <= k of g_i / max(1, log_a i)",
        symbols="g_i: grade of rank i; a: base of the logarithm, down to which nothing is discounted; ideal: the best order",
        values="0 to 1",
        zero="no document of a grade above 0 among the first k, or the query has none",
        ties="the same grades at the same ranks; the first a ranks are alike",
        use="to follow older papers: the first a documents count in full",
        example=Example("nDCG_JK(a=2)", (0, 1, 0, 1), 3 / 4, "DCG = 1/1 + 1/2 = 3/2; ideal 1 + 1 = 2: 3/4."),
        source="jarvelin2002",
        see_also=("nDCG", "SDCG"),
    ),
    "SDCG": Entry(
        formula=r"\frac{\sum_{i \le k} r_i / \log_2(i + 1)}{\sum_{i \le k} 1 / \log_2(i + 1)}",
        plain="sum over ranks i <= k of r_i / log2(i + 1), over the same sum with all r_i = 1",
        symbols=_OF_PROGRAM,
        values="0 to 1",
        zero=_ZERO,
        ties=_TIES,
        use="nDCG's discount without an ideal ranking: as if k documents of the top grade were there",
        example=Example(
            "SDCG(max_rel=2)@3",
            (1, 2, 0),
            (0.5 + 1 / log2(3)) / (1.5 + 1 / log2(3)),
            "r = 1/2, 1, 0: (0.5 + 0.6309) / (1 + 0.6309 + 0.5) = 0.5307.",
        ),
        source="azzopardi2019",
        see_also=("nDCG", "nDCG_JK"),
    ),
    "INSQ": Entry(
        formula=r"\frac{\sum_i V(i)\, r_i}{\sum_i V(i)}, \quad V(i) = \left(\frac{2T}{i + 2T - 1}\right)^2",
        plain="sum V(i) r_i / sum V(i), V(i) = (2T/(i + 2T - 1))^2",
        symbols=f"T: gain that the user hopes for; {_OF_PROGRAM}",
        values=_UNIT,
        zero=_ZERO,
        ties=_TIES,
        use="when users want a certain number of relevant documents, whatever they have seen so far",
        example=Example(
            "INSQ(T=1.0,max_rel=1)",
            (1,),
            1 / sum((2 / (i + 1)) ** 2 for i in range(1, 1001)),
            "V(i) = (2/(i+1))^2, of which 1,000 ranks sum to 2.5757: 1/2.5757.",
        ),
        source="moffat2012",
        see_also=("INST", "CWL_ERR11", "NERR11"),
    ),
    "INST": Entry(
        formula=r"\frac{\sum_i V(i)\, r_i}{\sum_i V(i)}, \quad \frac{V(i+1)}{V(i)} = \left(\frac{b_i - 1}{b_i}\right)^2, \quad "
        r"b_i = i + 2T - \sum_{j \le i} r_j",
        plain="sum V(i) r_i / sum V(i), V(i+1)/V(i) = ((b - 1)/b)^2, b = i + 2T - (gain down to rank i)",
        symbols=f"T: gain that the user hopes for; {_OF_PROGRAM}",
        values=_UNIT,
        zero=_ZERO,
        ties=_TIES,
        use="like INSQ, for users who stop the sooner the more they have found",
        example=Example(
            "INST(T=1.0,max_rel=1)",
            (1,),
            1 / sum(1 / i**2 for i in range(1, 1001)),
            "b = i + 1, so V(i) = 1/i^2, of which 1,000 ranks sum to 1.6439: 1/1.6439.",
        ),
        source="bailey2015",
        see_also=("INSQ", "CWL_ERR11", "BPM"),
    ),
    "BPM": Entry(
        formula=r"\frac{1}{s} \sum_{i \le s} r_i, \quad s = \min\left(k, \min\left\{i : \sum_{j \le i} r_j \ge T\right\}\right)",
        plain="mean gain down to rank s, where the gain has reached T, or s = k",
        symbols=f"T: gain at which users stop; k: rank at which their patience ends; {_OF_PROGRAM}",
        values=_UNIT,
        zero="no gain down to rank k",
        ties="the same gain down to the same last rank, in whatever order",
        use="when users stop as soon as they have what they came for",
        example=Example("BPM(T=1.0,max_rel=1)@3", (0, 1, 1), 1 / 2, "The gain reaches T = 1 at rank 2: 1/2."),
        source="zhang2017",
        see_also=("INST", "P"),
    ),
    "NERR8": Entry(
        formula=rf"{_VALUE}, \quad C(i) = 1 - r_i \;(i < k)",
        plain="sum V(i) r_i / sum V(i), C(i) = 1 - r_i below rank k, 0 from k on",
        symbols=_OF_PROGRAM,
        values=_UNIT,
        zero=_ZERO,
        ties=_TIES,
        use="CWL_ERR8 as cwl_eval computes it, with linear gains between min_rel and max_rel",
        example=Example("NERR8(max_rel=2)@2", (1, 2), 2 / 3, "r = 1/2, 1 and V = 1, 1/2: (1/2 + 1/2) / (3/2) = 2/3."),
        source="azzopardi2021",
        see_also=("CWL_ERR8", "NERR9", "NERR10", "NERR11"),
    ),
    "NERR9": Entry(
        formula=rf"{_VALUE}, \quad C(i) = \frac{{i}}{{i + 1}} (1 - r_i) \;(i < k)",
        plain="sum V(i) r_i / sum V(i), C(i) = i/(i+1) (1 - r_i) below rank k, 0 from k on",
        symbols=_OF_PROGRAM,
        values=_UNIT,
        zero=_ZERO,
        ties=_TIES,
        use="CWL_ERR9 as cwl_eval computes it, with linear gains between min_rel and max_rel",
        example=Example("NERR9(max_rel=2)@2", (1, 2), 3 / 5, "r = 1/2, 1 and V = 1, 1/4: (1/2 + 1/4) / (5/4) = 3/5."),
        source="azzopardi2021",
        see_also=("CWL_ERR9", "NERR8", "NERR10", "NERR11"),
    ),
    "NERR10": Entry(
        formula=rf"{_VALUE}, \quad C(i) = p (1 - r_i)",
        plain="sum V(i) r_i / sum V(i), C(i) = p (1 - r_i)",
        symbols=f"p: persistence; {_OF_PROGRAM}",
        values=_UNIT,
        zero=_ZERO,
        ties=_TIES,
        use="CWL_ERR10 as cwl_eval computes it, with linear gains between min_rel and max_rel",
        example=Example("NERR10(p=0.5,max_rel=1)", (0, 1), 1 / 3, "V = 1, 1/2, then 0: (1/2) / (3/2) = 1/3."),
        source="azzopardi2021",
        see_also=("CWL_ERR10", "NERR8", "NERR9", "NERR11"),
    ),
    "NERR11": Entry(
        formula=rf"{_VALUE}, \quad C(i) = \left(\frac{{i + 2T - 1}}{{i + 2T}}\right)^2 (1 - r_i)",
        plain="sum V(i) r_i / sum V(i), C(i) = ((i+2T-1)/(i+2T))^2 (1 - r_i)",
        symbols=f"T: gain that the user hopes for; {_OF_PROGRAM}",
        values=_UNIT,
        zero=_ZERO,
        ties=_TIES,
        use="CWL_ERR11 as cwl_eval computes it, with linear gains between min_rel and max_rel",
        example=Example(
            "NERR11(T=1.0,max_rel=1)", (0, 1), 4 / 13, "C(1) = (2/3)^2: V = 1, 4/9, then 0: (4/9) / (13/9) = 4/13."
        ),
        source="azzopardi2021",
        see_also=("CWL_ERR11", "NERR8", "NERR9", "NERR10", "INSQ"),
    ),
}
