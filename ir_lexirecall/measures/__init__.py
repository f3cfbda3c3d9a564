"""The measures.

A family is one file, imported here: declaration, formula, ``score(run)``; defining a class
registers it.

What is exported are the measures as ir_measures hands out its own: objects without parameters
(``TSE``), which take them by call.
"""

from typing import TYPE_CHECKING

from ir_lexirecall.measures import composed as composed
from ir_lexirecall.measures import cwl as cwl
from ir_lexirecall.measures import diversity as diversity
from ir_lexirecall.measures import novelty as novelty
from ir_lexirecall.measures import rbu as rbu
from ir_lexirecall.measures import recall as recall
from ir_lexirecall.measures import toolkits as toolkits
from ir_lexirecall.measures import total_recall as total_recall
from ir_lexirecall.measures import trec_eval_10 as trec_eval_10
from ir_lexirecall.measures.declaration import REGISTRY as REGISTRY
from ir_lexirecall.measures.declaration import Measure as Measure
from ir_lexirecall.measures.declaration import Utility as Utility
from ir_lexirecall.measures.parameters import Param as Param

__all__ = list(REGISTRY)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Measure: ...

else:
    globals().update(REGISTRY)
