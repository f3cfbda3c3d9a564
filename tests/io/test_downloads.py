"""An id of ir_datasets whose files cannot be downloaded is one line that names the way out."""

import logging
import os
import subprocess
import sys

import pytest

from ir_lexirecall.io.downloads import downloading
from ir_lexirecall.io.names import QUERIES
from ir_lexirecall.io.texts import texts_of

requests = pytest.importorskip("requests")
pytest.importorskip("ir_datasets")
ID = "msmarco-passage/trec-dl-2019/judged"


def failure(url="https://example.org/qrels"):
    request = requests.Request("GET", url).prepare()
    return requests.ConnectionError(
        "Max retries exceeded\nwith url: ...", request=request
    )


def raise_all(errors):
    with downloading("some/id"):
        raise RuntimeError("All download sources failed", errors)


def test_several_sources_are_one_sentence():
    errors = [("a mirror", failure("https://first.org/")), ("another", failure())]
    with pytest.raises(
        ValueError, match=r"^some/id: ir_datasets could not .* https://first.org/ "
    ) as caught:
        raise_all(errors)
    assert "\n" not in str(caught.value)
    assert "set IR_DATASETS_HOME to a folder that holds its files" in str(caught.value)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("something else"),
        OSError("disk full"),
        RuntimeError("All", [("a", OSError())]),
    ],
)
def test_other_errors_stay(error):
    with pytest.raises(type(error)) as caught, downloading("some/id"):
        raise error
    assert caught.value is error


def test_only_attempts_are_not_shown():
    logger = logging.getLogger("ir_datasets")
    records = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())
    logger.addHandler(handler)
    level = logger.level
    logger.setLevel(logging.INFO)
    try:
        with downloading("some/id"):
            logger.info("download error: no network. Retrying.")
            logger.warning("Download failed: no network")
            logger.info("Please confirm you agree to the data usage agreement")
        logger.info("download error: of another program")
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    assert records == [
        "Please confirm you agree to the data usage agreement",
        "download error: of another program",
    ]


OFFLINE = """
import requests, sys
from ir_datasets.util import download
def fail(*_, **options):
    raise requests.ConnectionError("Max retries", request=requests.Request("GET", options["url"]).prepare())
requests.get = fail
from ir_lexirecall.cli import main
sys.exit(main({arguments!r}))
"""


@pytest.mark.slow
def test_the_command_line_prints_one_line(tmp_path):
    run = tmp_path / "a.run"
    run.write_text("1 Q0 a 1 2.0 r\n")
    program = OFFLINE.format(arguments=["eval", ID, str(run), "-m", "AP"])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={
            **os.environ,
            "IR_DATASETS_HOME": str(tmp_path / "home"),
            "IR_DATASETS_DL_TRIES": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode
    [line] = [line for line in done.stderr.splitlines() if "agree to" not in line]
    assert f"{ID}: ir_datasets could not download it from https://" in line
    assert (
        f"IR_DATASETS_HOME to a folder that holds its files (now {tmp_path / 'home'})"
        in line
    )


def test_texts_say_the_same(monkeypatch):
    import ir_datasets

    def fail(*_):
        raise failure()
        yield

    dataset = ir_datasets.load("beir/scifact/test")
    monkeypatch.setattr(type(dataset.queries_handler()), "queries_iter", fail)
    with pytest.raises(
        ValueError, match=r"^beir/scifact/test: ir_datasets could not download it"
    ):
        texts_of("beir/scifact/test", ["1"], QUERIES)
