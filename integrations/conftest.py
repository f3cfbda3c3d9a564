"""Leaves out the integrations whose framework is not installed here."""

from importlib.util import find_spec


def _missing(package: str, module: str) -> bool:
    # Asking for a module of it, too: a folder of tests may go by the framework's name.
    return find_spec(package) is None or find_spec(f"{package}.{module}") is None


collect_ignore = [
    folder
    for folder, package, module in (
        ("lenskit_lexirecall", "lenskit", "metrics"),
        ("spark_lexirecall", "pyspark", "sql"),
        ("pyterrier_lexirecall", "pyterrier", "measures"),
    )
    if _missing(package, module)
]
