"""Results call functions of upper floors by protocols: these have to say what is there."""

import inspect

import pytest

from ir_lexirecall import plots, present
from ir_lexirecall._util.presenting import Pictures, Presentation, Table
from ir_lexirecall.present.tables import Shown

PAIRS = [
    (protocol, owner, name)
    for protocol, owner in (
        (Presentation, present),
        (Pictures, plots),
        (Table, Shown),
    )
    for name in vars(protocol)
    if not name.startswith("_")
]


@pytest.mark.parametrize(
    ("protocol", "owner", "name"), PAIRS, ids=[name for *_, name in PAIRS]
)
def test_a_protocol_says_what_its_module_has(protocol, owner, name):
    promised = inspect.signature(getattr(protocol, name)).parameters
    function = getattr(owner, name)
    parameters = inspect.signature(function).parameters
    names = [parameter for parameter in promised if parameter != "self"]
    given = [parameter for parameter in parameters if parameter != "self"]
    positional = [
        one
        for one in names
        if promised[one].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]
    assert given[: len(positional)] == positional
    assert set(names) <= set(given)
    for one in set(given) - set(names):
        assert parameters[one].default is not inspect.Parameter.empty


def test_every_function_is_looked_at():
    assert len(PAIRS) == 13
