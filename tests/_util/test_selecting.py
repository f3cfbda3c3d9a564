"""Parts of sequences and mappings are those that a loop finds, in the order that is promised."""

from hypothesis import given
from hypothesis import strategies as st

from ir_lexirecall._util.selecting import (
    among,
    index_of,
    of_type,
    reading_order,
    with_keys,
    without,
    without_keys,
)

LETTERS = st.lists(st.sampled_from("abcdef"))


@given(LETTERS, LETTERS)
def test_items_are_parted_in_their_order(items: list[str], others: list[str]) -> None:
    kept, left = among(items, others), without(items, set(others))
    assert sorted(kept + left) == sorted(items)
    assert all(item in others for item in kept)
    assert not any(item in others for item in left)
    remaining = iter(items)
    assert all(item in remaining for item in kept)  # a subsequence


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers()), LETTERS)
def test_entries_are_parted_by_their_keys(
    numbers: dict[str, int], keys: list[str]
) -> None:
    kept, left = with_keys(numbers, keys), without_keys(numbers, keys)
    assert kept | left == numbers
    assert not kept.keys() & left.keys()
    assert list(kept) == [key for key in dict.fromkeys(keys) if key in numbers]
    assert list(left) == [key for key in numbers if key not in keys]


def test_entries_have_a_type_and_items_an_index() -> None:
    assert of_type({"a": 1, "b": "x", "c": 2.0}, (int | str)) == {"a": 1, "b": "x"}
    assert index_of("ab") == {"a": 0, "b": 1}
    assert index_of([]) == {}


@given(st.lists(st.integers(-5, 200).map(str)))
def test_numbers_are_read_by_size_and_equal_ones_keep_their_order(
    ids: list[str],
) -> None:
    order = reading_order(ids)
    assert sorted(order) == list(range(len(ids)))
    pairs = [(int(ids[i]), i) for i in order]
    assert pairs == sorted(pairs)
    named = [*ids, "q1"]
    assert reading_order(named) == list(range(len(named)))


def test_digits_of_other_scripts_and_very_long_ones_are_names() -> None:
    assert reading_order(["٢", "١"]) == [0, 1]
    assert reading_order(["9" * 5000, "1"]) == [0, 1]
    assert reading_order(["02", "2", "1"]) == [2, 0, 1]
