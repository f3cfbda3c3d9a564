"""The pages of the papers: pictures and verdicts, without code, and a link to the whole output."""

from __future__ import annotations

from ir_lexirecall.pt_docs import placeholders

PAGE = """Title
=====

Of 2 printed numbers 1 is reproduced.

.. GENERATED FROM PYTHON SOURCE LINES 8-20

.. code-block:: Python

    import secret

    secret.run()



.. image-sg:: /gallery/papers/images/one.png
   :alt: A picture
   :class: sphx-glr-single-img


.. rst-class:: sphx-glr-script-out

 .. code-block:: none

    Table 1: a long table

    What the paper says in words
      holds  Table 1: it does

    1 of 2 printed numbers agree.




.. rst-class:: sphx-glr-timing

   **Total running time of the script:** (0 minutes 1.000 seconds)

:download:`paper.py <paper.py>`
"""


def test_a_page_has_pictures_and_verdicts_and_links_to_the_whole_output() -> None:
    page, output = placeholders.in_short(PAGE, "paper")
    assert output.startswith("Table 1: a long table\n")
    assert output.endswith("1 of 2 printed numbers agree.\n")
    for gone in ("secret", "a long table"):
        assert gone not in page
    for kept in ("Of 2 printed numbers", ":alt: A picture", "<paper.txt>", "  holds  Table 1", "1 of 2", "<paper.py>"):
        assert kept in page
    assert page.count(".. code-block:: none") == 1


def test_verdicts_are_the_end_of_the_output() -> None:
    assert placeholders.verdicts("a\n\nWhat holds on these\n  yes\n") == "What holds on these\n  yes"
    assert placeholders.verdicts("no verdicts\n") == "no verdicts"
