"""Grades of several aspects (subtopics) of a document, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.lazy import polars as pl


@dataclass(frozen=True)
class AspectGrades:
    """Grades per aspect, a row per judged document and aspect, ordered by document row and aspect."""

    doc: Ints  # row of the document in the judgments
    aspect: Ints  # number of the (query, aspect) pair
    grade: Floats
    query: Ints  # for every (query, aspect) pair: its query
    weight: Floats  # for every (query, aspect) pair: w_t, summing to 1 within a query; 0 if nothing is relevant

    @cached_property
    def top_grade(self) -> Floats:
        """The largest grade of every (query, aspect) pair, 1 where none is above 0."""
        largest = np.zeros(len(self.query))
        np.maximum.at(largest, self.aspect, self.grade)
        return np.where(largest > 0, largest, 1.0)


@dataclass(frozen=True)
class AspectRows:
    """Qrels that say more than one grade for each document: of several aspects, or in further columns.

    A row per document and aspect, ordered by document, then by the name of the aspect.
    """

    doc: Ints  # for each row, the row of the document in the judgments
    aspect: Ints  # its aspect, as a place in ``names``
    grade: Floats  # the grade for it
    names: list[str]  # names of aspects, sorted
    columns: Mapping[str, pl.Series]  # further columns of the qrels, as they were
    line: Ints  # their lines that are about these rows, ordered by row; more than one where the same is said twice
    row: Ints  # the row that each of these lines is about

    def __len__(self) -> int:
        return len(self.doc)

    def of_documents(self, new: Ints) -> AspectRows:
        """The rows of some documents: ``new`` is the row of every document among those that remain, -1 for the others."""
        doc = new[self.doc]
        keep = doc >= 0
        lines = keep[self.row]
        row = (np.cumsum(keep) - 1)[self.row[lines]]
        return replace(
            self, doc=doc[keep], aspect=self.aspect[keep], grade=self.grade[keep], line=self.line[lines], row=row
        )

    def without_labels(self, removed: Bools) -> AspectRows:
        """The same rows, those of some documents (a truth value for each) with grade 0 and without further labels."""
        gone = removed[self.doc]
        lines = ~gone[self.row]
        return replace(self, grade=np.where(gone, 0.0, self.grade), line=self.line[lines], row=self.row[lines])
