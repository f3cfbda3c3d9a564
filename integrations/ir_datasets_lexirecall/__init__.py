"""The collection embedded in ir_lexirecall as the ir_datasets data set ``lexirecall/demo``.

Importing this module registers it, as community packages of ir_datasets do. ``ir_lexirecall.load`` and the command line
know the id without it.

>>> import ir_datasets
>>> import ir_datasets_lexirecall
>>> ir_datasets.load("lexirecall/demo").queries_count()
16
"""

from ir_datasets_lexirecall.demo import NAME, register

__all__ = ["NAME", "register"]

register()
