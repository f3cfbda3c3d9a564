"""Pictures of collections."""

from __future__ import annotations

from typing import Any

import numpy as np

from ir_lexirecall.data.collection import Collection
from ir_lexirecall.plots.axes import FIRST, bare, finish, new_axes

_MOST_BARS = 30


def relevant_documents(collection: Collection, *, ax: Any = None) -> Any:
    """How many queries have how many relevant documents: a bar for each number, or for a range of numbers."""
    ax = new_axes(ax, (5.0, 2.5))
    numbers = collection.relevant_by_query.to_numpy(np.int64)
    most = int(numbers.max(initial=1))
    width = -(-(most + 1) // _MOST_BARS)
    ax.hist(numbers, bins=np.arange(0, most + 1 + width, width) - 0.5, rwidth=0.9, color=FIRST)
    ax.set_xlabel("relevant documents")
    ax.set_ylabel("queries")
    ax.yaxis.get_major_locator().set_params(integer=True)
    bare(ax)
    return finish(
        ax,
        title=f"Relevant documents of {len(numbers)} queries"
        + (f", median {np.median(numbers):g}" if len(numbers) else ""),
    )
