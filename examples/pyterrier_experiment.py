"""Is B better than A for someone who needs everything, and on which queries?

Runs ``pt.Experiment`` on the embedded collection with standard measures and ours in one table, then the same systems
through ``pt.lexirecall.Experiment``, which adds preferences that the ranks themselves decide, against one baseline and
against two, and asks what decided. No Java, no network: the systems are the collection's stored runs.
"""

import pyterrier as pt
from pyterrier.measures import CWL_ERR10, LR, RBU, TSE, nDCG  # standard and new ones alike

import ir_lexirecall.demo as demo


def main() -> None:
    topics = demo.queries().rename(columns={"query_id": "qid", "text": "query"})
    # Subtopics go where PyTerrier and ir_measures look for them; further columns are aspects.
    qrels = demo.qrels().rename(
        columns={"query_id": "qid", "doc_id": "docno", "relevance": "label", "subtopic_id": "iteration"}
    )
    systems = {}
    for name, run in demo.runs().items():
        results = run.rename(columns={"query_id": "qid", "doc_id": "docno"})
        systems[name] = pt.Transformer.from_df(pt.model.add_ranks(results))

    measures = [TSE, LR, RBU @ 20, CWL_ERR10(max_rel=3), nDCG @ 10]
    print("One table for all measures:\n")
    print(pt.Experiment(systems, topics, qrels, measures, round=4).to_string(index=False))

    print(
        "\nAgainst bm25: the measure's statistics are PyTerrier's, those of the preference count wins and losses exactly:\n"
    )
    options = {"correction": "holm", "round": 4}
    table = pt.lexirecall.Experiment(systems, topics, qrels, [LR, nDCG @ 10], baseline="bm25", **options)
    print(table[["name", *(column for column in table if "nDCG" in column)]].to_string(index=False), "\n")
    print(table[["name", *(column for column in table if column.startswith("pref:"))]].to_string(index=False))

    print("\nAgainst two baselines:\n")
    two = pt.lexirecall.Experiment(systems, topics, qrels, [LR], baseline=["bm25", "ql"], round=4)
    print(two[["name", *(column for column in two if "p-value" in column)]].to_string(index=False))

    preferences = table.attrs["preferences"]
    print("\nWhat decided between bm25 and bm25_rerank:\n")
    print(preferences.explain("bm25", "bm25_rerank").to_string(index=False))
    for note in preferences.diagnostics:
        print(f"- {note}")


if __name__ == "__main__":
    main()
