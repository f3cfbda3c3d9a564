"""All claims of Section 6 of Diaz et al., and of Section 7 that follow from it, for `diaz_2026.py`.

A claim is checked on each domain that has what it needs: runs of retrieval systems, and lists of
recommenders. The paper speaks of three classes of depth: deep (more than 1,000 documents), standard
(more than 100) and shallow. A domain has the same systems, cut at 1,000 and 100.

A verdict is `holds`, `fails` or `cannot tell`, which is said where data are missing, and where one
pair of systems decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from printed import Printed

if TYPE_CHECKING:
    from systems import Measured

RECALL = ["R@1000", "Rprec"]
TOP = ["RR", "nDCG@10"]
RANDOM_TIES = {"R@1000": 0.818, "Rprec": 0.993}  # of Figure 8, at 1,000 documents
COMPARABLE = 0.02  # shares of decisions that differ by no more
NEAR = 0.1  # agreements that differ by no more are comparable
STRONG = 0.8  # agreement
NO_DEEP = "no runs of more than 1,000 documents are at hand"
NOT_RECORDED = "it was not recorded"
ONE_PAIR = "one pair of systems decides"
SEVERAL = "it needs several sets of each kind"

Verdict = tuple[
    bool | None, str
]  # whether it holds, and its numbers or why that cannot be decided


@dataclass(frozen=True)
class Domain:
    """Systems of one kind at several depths.

    Attributes:
        name: of the domain, for messages.
        retrieval: whether they are retrieval systems, not recommenders.
        by_depth: what was measured, by class of depth, the shallowest first.
    """

    name: str
    retrieval: bool
    by_depth: dict[str, Measured]

    @property
    def deepest(self) -> Measured:
        """What was measured on the rankings as they are."""
        return list(self.by_depth.values())[-1]

    @property
    def shallowest(self) -> Measured:
        """What was measured on the shallowest rankings."""
        return next(iter(self.by_depth.values()))

    def column(self, name: str) -> pd.DataFrame:
        """Return a column of the comparison: a row per measure, a column per depth."""
        return pd.DataFrame(
            {depth: x.compared[name] for depth, x in self.by_depth.items()}
        )

    def lead(self, depth: str, ours: str, theirs: str) -> int:
        """Return how many more pairs lexirecall tells apart than the better of R@1000 and RP."""
        table = self.by_depth[depth].compared
        return int(table.loc["lexirecall", ours] - table.loc[RECALL, theirs].max())


def degraded(measured: Measured, column: str, policy: str = "random") -> pd.DataFrame:
    """Return shares by measure and share of labels removed."""
    table = measured.degraded[policy]
    return table.pivot(index="measure", columns="fraction", values=column)


def spans(values: pd.DataFrame | pd.Series) -> str:
    """Return values at all depths as text."""
    return ", ".join(f"{value:.3f}" for value in np.ravel(values.to_numpy()))


# -- 6.2.1: agreement with lexirecall --------------------------------------------------------------


def top_agrees_least(domain: Domain) -> Verdict:
    alike = domain.column("agreement").drop("TSE", errors="ignore")
    return bool((alike.loc[TOP].max() < alike.drop(TOP).min()).all()), spans(
        alike.loc[TOP].max()
    )


def recall_agrees_most(domain: Domain) -> Verdict:
    alike = domain.column("agreement")
    return bool((alike.loc["R@1000"] >= alike.max()).all()), spans(alike.loc["R@1000"])


def recall_agrees_perfectly(domain: Domain) -> Verdict:
    alike = (
        domain.column("agreement").drop(columns="deep", errors="ignore").loc["R@1000"]
    )
    return bool((alike == 1).all()), spans(alike)


def ties_of_recall_are_decided(domain: Domain) -> Verdict:
    ties = domain.column("ties")
    least = (
        ties.loc["R@1000"] - ties.loc["lexirecall"]
    )  # what R@1000 ties and lexirecall does not
    return bool((least > 0).all()), f"at least {spans(least)} of all pairs"


def ndcg_agrees_more_with_depth(domain: Domain) -> Verdict:
    alike = domain.column("agreement").loc["nDCG"]
    return bool((alike.diff().iloc[1:] > 0).all()), spans(alike)


def ndcg_matches_recall(domain: Domain) -> Verdict:
    if "deep" not in domain.by_depth:
        return None, NO_DEEP
    alike = domain.column("agreement")["deep"]
    return abs(alike["nDCG"] - alike["R@1000"]) <= COMPARABLE, spans(
        alike[["nDCG", "R@1000"]]
    )


def precision_and_ap_agree_comparably(domain: Domain) -> Verdict:
    alike = domain.column("agreement")
    near = (alike.loc["Rprec"] - alike.loc["AP"]).abs() <= NEAR
    above = alike.loc[["Rprec", "AP"]].min() > alike.loc[TOP].max()
    text = f"RP {spans(alike.loc['Rprec'])}; AP {spans(alike.loc['AP'])}"
    return bool((near & above).all()), text


# -- 6.2.2: ties -----------------------------------------------------------------------------------


def ties_are_fewer_than_of_random_rankings(domain: Domain) -> Verdict:
    ties = domain.column("ties").loc[RECALL].drop(columns="shallow", errors="ignore")
    random = pd.Series(RANDOM_TIES)
    return bool((ties.lt(random / 2, axis=0)).all(axis=None)), spans(ties)


def recall_ties_more(domain: Domain) -> Verdict:
    ties = domain.column("ties")
    least = ties.loc[RECALL].min()
    text = f"at least {spans(least)}; lexirecall {spans(ties.loc['lexirecall'])}"
    return bool((least > 3 * ties.loc["lexirecall"]).all()), text


def ap_and_ndcg_tie_alike(domain: Domain) -> Verdict:
    ties = domain.column("ties")
    gaps = (ties.loc[["AP", "nDCG"]] - ties.loc["lexirecall"]).abs()
    return bool(
        (gaps <= 0.005).all(axis=None)
    ), f"at most {gaps.max(axis=None):.4f} apart"


def ties_look_the_same(domain: Domain) -> Verdict:
    ties = domain.deepest.compared["ties"]
    return (
        bool(
            ties[RECALL].min()
            > ties["nDCG@10"]
            > ties[["lexirecall", "AP", "nDCG"]].max()
        ),
        "R@1000, RP above nDCG@10 above lexirecall, AP, nDCG",
    )


# -- 6.2.3: significance ---------------------------------------------------------------------------


def lead_of_deep(ours: str, theirs: str) -> Callable[[Domain], Verdict]:
    def check(domain: Domain) -> Verdict:
        if "deep" not in domain.by_depth:
            return None, NO_DEEP
        return decided_by_pairs(domain.lead("deep", ours, theirs))

    return check


def decided_by_pairs(lead: int) -> Verdict:
    """Return whether a lead is above 0; unknown if one pair decides."""
    if abs(lead) <= 1:
        return None, f"{ONE_PAIR} ({lead:+d})"
    return lead > 0, f"{lead:+d} pairs"


def same_tests_give_similar_outcomes(domain: Domain) -> Verdict:
    depth = list(domain.by_depth)[-1]
    leads = [
        domain.lead(depth, *tests)
        for tests in (("sign", "t"), ("sign", "sign"), ("t", "t"))
    ]
    text = "{:+d} as in the paper, {:+d} by sign, {:+d} by t".format(*leads)
    if min(map(abs, leads)) == 1:
        return None, f"{ONE_PAIR} ({text})"
    return len({int(np.sign(lead)) for lead in leads}) == 1, text


def lead_grows_by_hsd(domain: Domain) -> Verdict:
    depth = list(domain.by_depth)[-1]
    by_hsd = domain.lead(depth, "Tukey HSD", "Tukey HSD")
    return decided_by_pairs(by_hsd - domain.lead(depth, "sign", "t"))


def lead_shrinks_with_depth(domain: Domain) -> Verdict:
    leads = [domain.lead(depth, "Tukey HSD", "Tukey HSD") for depth in domain.by_depth]
    holds, _ = decided_by_pairs(leads[-1] - leads[0])
    text = ", ".join(f"{lead:+d}" for lead in leads)
    return holds, f"{ONE_PAIR} ({text})" if holds is None else f"{text} pairs"


def earlier_preferences_lead_alike(domain: Domain) -> Verdict:
    table = domain.deepest.compared
    if "rpp" not in table.index:
        return None, NOT_RECORDED
    rpp, ap = (int(table.loc[name, "Tukey HSD"]) for name in ("rpp", "AP"))
    holds, _ = decided_by_pairs(rpp - ap)
    text = f"rpp {rpp}, AP {ap}"
    return holds, f"{ONE_PAIR} ({text})" if holds is None else text


# -- 6.2.4: missing labels -------------------------------------------------------------------------


def ties_degrade_alike(domain: Domain) -> Verdict:
    ties = degraded(domain.deepest, "ties")
    gaps = (ties.loc[["AP", "nDCG"]] - ties.loc["lexirecall"]).abs()
    return gaps.max(axis=None) <= COMPARABLE, f"at most {gaps.max(axis=None):.3f} apart"


def ties_degrade_gracefully(domain: Domain) -> Verdict:
    ties = degraded(domain.deepest, "ties")
    most = ties.loc[["lexirecall", *RECALL], 0.9]
    text = ", ".join(f"{name} {share:.3f}" for name, share in most.items())
    holds = (ties.loc["lexirecall"] < ties.loc[RECALL].min()).all()
    return bool(holds), f"without 90% of the labels: {text}"


def ties_grow_in_shallow_rankings(domain: Domain) -> Verdict:
    gain = degraded(domain.shallowest, "ties") - degraded(domain.deepest, "ties")
    worst = gain.min(axis=1)
    return bool((worst >= -0.005).all()), f"least {worst.idxmin()} {worst.min():+.3f}"


def shallow_hurts_recall_more(domain: Domain) -> Verdict:
    gain = (degraded(domain.shallowest, "ties") - degraded(domain.deepest, "ties"))[0.9]
    text = ", ".join(f"{name} {gain[name]:+.3f}" for name in ("lexirecall", *RECALL))
    return bool(gain[RECALL].min() > gain["lexirecall"]), text


def agreement_degrades_alike(domain: Domain) -> Verdict:
    kept = degraded(domain.deepest, "agreement")
    short = (kept.loc[["AP", "nDCG"]].min() - kept.loc["lexirecall"]).max()
    return short <= COMPARABLE, f"at most {max(short, 0):.3f} lower"


def recall_keeps_as_much(domain: Domain) -> Verdict:
    kept = degraded(domain.deepest, "agreement")
    holds = (kept.loc[RECALL] >= kept.loc["lexirecall"] - COMPARABLE).all(axis=None)
    half = ", ".join(
        f"{name} {kept.loc[name, 0.5]:.3f}" for name in (*RECALL, "lexirecall")
    )
    return bool(holds), half


def ties_explain_what_recall_keeps(domain: Domain) -> Verdict:
    decided = domain.deepest.decided
    if decided is None:
        return None, NOT_RECORDED
    text = ", ".join(f"{name} {decided[name]:.3f}" for name in (*RECALL, "lexirecall"))
    return bool(decided[RECALL].max() < decided["lexirecall"] + COMPARABLE), text


def precision_drops_fastest(domain: Domain) -> Verdict:
    kept = degraded(domain.deepest, "agreement")
    others = kept.drop("Rprec").min()
    return bool((kept.loc["Rprec"] < others).all()), spans(kept.loc["Rprec"])


def recall_falls_behind(domain: Domain) -> Verdict:
    kept = degraded(domain.deepest, "agreement")
    gap = kept.loc["R@1000"] - kept.loc["lexirecall"]
    return bool(abs(gap[0.1]) <= COMPARABLE and gap[0.9] < -COMPARABLE), spans(gap)


def agreement_falls_in_shallow_rankings(domain: Domain) -> Verdict:
    loss = (
        degraded(domain.deepest, "agreement") - degraded(domain.shallowest, "agreement")
    )[0.5]
    loss = loss.drop(TOP)
    return bool((loss > 0).all()), f"least {loss.idxmin()} {loss.min():+.3f}"


def frequency_hurts_recall(domain: Domain) -> Verdict:
    frequency, random = (
        degraded(domain.deepest, "agreement", policy).loc["R@1000", 0.5]
        for policy in ("frequency", "random")
    )
    return frequency < random, f"half removed: {frequency:.3f}; at random {random:.3f}"


# -- Section 7 -------------------------------------------------------------------------------------


def precision_is_to_be_avoided(domain: Domain) -> Verdict:
    kept = degraded(domain.shallowest, "agreement")[0.5].drop(TOP)
    return bool(
        kept.idxmin() == "Rprec"
    ), f"{kept.idxmin()} keeps least, {kept.min():.3f}"


def low_cutoffs_tie_more(domain: Domain) -> Verdict:
    ties = domain.column("ties")
    return bool((ties.loc[TOP].min() > ties.loc["lexirecall"]).all()), spans(
        ties.loc[TOP].min()
    )


def ndcg_agrees_strongly(domain: Domain) -> Verdict:
    alike = domain.column("agreement").loc["nDCG"]
    return bool((alike >= STRONG).all()), spans(alike)


@dataclass(frozen=True)
class SectionClaim:
    """A claim with its place, and the check that a domain must pass.

    Attributes:
        only: `retrieval` or `recommendation`, if the paper claims it for one; else empty.
    """

    place: str
    text: str
    check: Callable[[Domain], Verdict]
    only: str = ""


CLAIMS = [
    SectionClaim("6.2.1", "RR and nDCG@10 agree least with lexirecall, at every depth", top_agrees_least),
    SectionClaim("6.2.1", "R@1000 agrees most, at every depth", recall_agrees_most),
    SectionClaim("6.2.1", "standard, shallow: R@1000 agrees perfectly", recall_agrees_perfectly),
    SectionClaim("6.2.1", "lexirecall decides pairs that R@1000 ties", ties_of_recall_are_decided),
    SectionClaim("6.2.1", "nDCG's agreement rises with depth", ndcg_agrees_more_with_depth),
    SectionClaim("6.2.1", "until it matches R@1000's", ndcg_matches_recall),
    SectionClaim("6.2.1", "RP and AP agree comparably, and more than RR and nDCG@10", precision_and_ap_agree_comparably),
    SectionClaim("6.2.2", "R@1000 and RP tie much less than on random rankings", ties_are_fewer_than_of_random_rankings),
    SectionClaim("6.2.2", "R@1000 and RP tie substantially more than lexirecall", recall_ties_more),
    SectionClaim("6.2.2", "AP and nDCG tie about as often as lexirecall", ap_and_ndcg_tie_alike),
    SectionClaim("6.2.2", "the picture of ties is that of the other domain", ties_look_the_same),
    SectionClaim("6.2.3", "Figure 12, deep: lexirecall is ahead of R@1000 and RP", lead_of_deep("sign", "t")),
    SectionClaim("6.2.3", "the same test on both sides gives similar outcomes", same_tests_give_similar_outcomes),
    SectionClaim("6.2.3", "Figure 13: by HSD the lead is larger than by standard tests", lead_grows_by_hsd),
    SectionClaim("6.2.3", "Figure 13, deep: by HSD lexirecall is clearly ahead", lead_of_deep("Tukey HSD", "Tukey HSD")),
    SectionClaim("6.2.3", "Figure 13: the lead shrinks as depth decreases", lead_shrinks_with_depth),
    SectionClaim("6.2.3", "Figure 13: it is that of earlier preferences", earlier_preferences_lead_alike),
    SectionClaim("6.2.4", "ties: lexirecall degrades like AP and nDCG", ties_degrade_alike),
    SectionClaim("6.2.4", "ties: more gracefully than R@1000 and RP", ties_degrade_gracefully),
    SectionClaim("6.2.4", "ties: every measure ties more in shallower rankings", ties_grow_in_shallow_rankings),
    SectionClaim("6.2.4", "ties: shallow rankings hurt R@1000 and RP more", shallow_hurts_recall_more),
    SectionClaim("6.2.4", "agreement: lexirecall degrades like AP and nDCG", agreement_degrades_alike),
    SectionClaim("6.2.4", "agreement: RP and R@1000 keep as much or more", recall_keeps_as_much, "recommendation"),
    SectionClaim("6.2.4", "that is an artefact of their ties", ties_explain_what_recall_keeps, "recommendation"),
    SectionClaim("6.2.4", "agreement: RP drops fastest, below all others", precision_drops_fastest, "retrieval"),
    SectionClaim("6.2.4", "agreement: R@1000 is like lexirecall at first, lower in the end", recall_falls_behind, "retrieval"),
    SectionClaim("6.2.4", "agreement: all are lower in shallow rankings", agreement_falls_in_shallow_rankings),
    SectionClaim("6.2.4", "R@1000 keeps less where rarely retrieved labels go", frequency_hurts_recall),
    SectionClaim("7.1.2", "RP is to be avoided for shallow, sparse data", precision_is_to_be_avoided),
    SectionClaim("7.2.1", "RR and nDCG@10 tie more than lexirecall", low_cutoffs_tie_more),
    SectionClaim("7.2.2", "lexirecall and nDCG agree strongly", ndcg_agrees_strongly),
]  # fmt: skip


def check_all(domains: list[Domain], count: Printed) -> None:
    """Check every claim on every domain that it is about, and those that compare domains."""
    for claim in CLAIMS:
        for domain in domains:
            kind = "retrieval" if domain.retrieval else "recommendation"
            if claim.only in ("", kind):
                state(
                    count,
                    f"{claim.place}, {domain.name}: {claim.text}",
                    *claim.check(domain),
                )
    compare_domains(domains, count)


def state(count: Printed, text: str, holds: bool | None, detail: str) -> None:
    """Count a claim, with its numbers, or with why it cannot be decided."""
    if holds is None and detail.startswith(ONE_PAIR):
        count.cannot_tell(f"{text}{detail.removeprefix(ONE_PAIR)}", ONE_PAIR)
    elif holds is None:
        count.cannot_tell(text, detail)
    else:
        count.claim(f"{text} ({detail})" if detail else text, holds)


def compare_domains(domains: list[Domain], count: Printed) -> None:
    """Check the claims that compare recommendation with retrieval."""
    retrieval = next((domain for domain in domains if domain.retrieval), None)
    recommenders = [domain for domain in domains if not domain.retrieval]
    for domain in recommenders:
        where = f"{domain.name} and retrieval"
        state(
            count,
            f"6.2.2, {where}: ties vary much more between requests in recommendation",
            *ties_vary_more(retrieval, domain),
        )
        state(
            count,
            f"6.2.4, {where}: ties with all labels look like retrieval's with few",
            *looks_like_few_labels(retrieval, domain),
        )
    count.cannot_tell(
        "6.2.4: variance under removal is much higher in recommendation", SEVERAL
    )


NO_RUNS = "no runs of retrieval systems were given"


def ties_vary_more(retrieval: Domain | None, domain: Domain) -> Verdict:
    if retrieval is None:
        return None, NO_RUNS
    ours, theirs = domain.deepest.spread, retrieval.deepest.spread
    if ours is None or theirs is None:
        return None, NOT_RECORDED
    names = ["lexirecall", *RECALL]
    text = ", ".join(
        f"{name} {ours[name]:.3f} and {theirs[name]:.3f}" for name in names
    )
    return bool((ours[names] > theirs[names]).all()), text


def looks_like_few_labels(retrieval: Domain | None, domain: Domain) -> Verdict:
    if retrieval is None:
        return None, NO_RUNS
    full = domain.deepest.compared.loc["R@1000", "ties"]
    few = degraded(retrieval.deepest, "ties").loc["R@1000", 0.9]
    return abs(
        full - few
    ) <= NEAR, f"R@1000 {full:.3f}; {few:.3f} without 90% of the labels"


def no_runs(count: Printed) -> None:
    """Count the claims on retrieval that need runs."""
    for claim in CLAIMS:
        if claim.only != "recommendation":
            count.cannot_tell(f"{claim.place}, retrieval: {claim.text}", NO_RUNS)
