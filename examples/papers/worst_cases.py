"""Users and providers who need some of the relevant documents, for ``systems.py``: Equations 4 and 6 of Diaz et al., by enumeration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.measures.parsing import parse_measures
from ir_lexirecall.measures.recall import exposure
from ir_lexirecall.measures.scoring import values
from ir_lexirecall.meta.made_up_rankings import made_up_run


def worst_cases(
    measures: Sequence[str], runs: Mapping[str, AlignedRun], most: int = 8
) -> pd.DataFrame:
    """What the worst-off user and the worst-off provider get, over all 2^m - 1 non-empty subsets U of the m relevant documents.

    - A user needs exactly the documents U: ``user`` = min over U of the measure with these relevant and all others not (Eq. 4).
    - A provider owns exactly the documents U: ``provider`` = min over U of the sum of e(p_d) over d in U, with the measure's exposure e:
      1/i for AP and RR, 1/log2(i+1) for nDCG, (1-p) p^(i-1) for RBP (Eq. 6); NaN for others.
    - For those both equal ``closed_form`` = e(p_m), the total search efficiency of the same exposure; a missing document has exposure 0.

    A row per run, measure and query with 1 to ``most`` relevant documents: also ``run``, ``measure``, ``query_id``, ``subsets``.
    """
    rows = []
    for name, run in runs.items():
        rank = np.zeros(len(run.judgments.grade), dtype=np.int64)
        rank[run.doc] = run.rank
        for label, measure in parse_measures(measures).items():
            exposed = None
            if measure.NAME in (
                "AP",
                "RR",
                "nDCG",
                "RBP",
            ) and not measure.params.keys() - {"p"}:
                exposed = exposure(measure.NAME, p=measure.params.get("p", 0.8), n=None)
            for q, m in enumerate(run.judgments.m().tolist()):
                if not 1 <= m <= most:
                    continue
                ranks = rank[(run.judgments.query == q) & (run.judgments.grade >= 1)]
                ranks = np.r_[
                    np.sort(ranks[ranks > 0]), ranks[ranks == 0]
                ]  # the missing last
                subset, doc = np.nonzero(
                    (np.arange(1, 2**m)[:, None] >> np.arange(m)) & 1
                )
                depth = np.full(2**m - 1, run.depth[q])
                user = values(
                    measure, made_up_run(subset, ranks[doc], np.ones(len(doc)), depth)
                ).min()
                provider = last = np.nan
                if exposed is not None:
                    e = exposed(np.where(ranks > 0, ranks, np.inf).astype(np.float64))
                    provider, last = np.bincount(subset, weights=e[doc]).min(), e[-1]
                rows.append(
                    (
                        name,
                        label,
                        run.judgments.query_ids[q],
                        user,
                        provider,
                        last,
                        2**m - 1,
                    )
                )
    return pd.DataFrame(
        rows,
        columns=[
            "run",
            "measure",
            "query_id",
            "user",
            "provider",
            "closed_form",
            "subsets",
        ],
    )
