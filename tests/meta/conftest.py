"""What the tests of studies share: the runs of TREC 2003 Robust, aligned once."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from ir_lexirecall import demo
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments


@pytest.fixture(scope="session")
def robust(data: Any) -> tuple[Judgments, dict[str, AlignedRun]]:
    """Judgments of TREC 2003 Robust, and all 17 runs."""
    judgments = Judgments.from_qrels(data.path("robust2003/qrels.txt.gz"))
    paths = data.folder("robust2003/runs")
    return judgments, {
        path.rpartition("/")[2].removesuffix(".gz"): align(judgments, path)
        for path in paths
    }


@pytest.fixture(scope="module")
def collection() -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Qrels and runs of the embedded collection."""
    return demo.qrels(), demo.runs()
