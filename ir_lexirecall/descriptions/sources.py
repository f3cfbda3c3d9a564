"""The sources of the measures: BibTeX entries by their keys, made of plain facts."""

from __future__ import annotations

from ir_lexirecall.descriptions.base import Source

_Facts = tuple[str, str, str, str, int, str]

_FACTS: dict[str, _Facts] = {
    # key: kind, authors, title, where, year, doi
    "diaz2026": (
        "article",
        "Fernando Diaz and Michael D. Ekstrand and Bhaskar Mitra",
        "Recall, Robustness, and Lexicographic Evaluation",
        "ACM Transactions on Recommender Systems",
        2026,
        "10.1145/3728373",
    ),
    "azzopardi2021": (
        "inproceedings",
        "Leif Azzopardi and Joel Mackenzie and Alistair Moffat",
        "ERR is not C/W/L: Exploring the Relationship Between Expected Reciprocal Rank and Other Metrics",
        "ICTIR",
        2021,
        "10.1145/3471158.3472239",
    ),
    "azzopardi2019": (
        "inproceedings",
        "Leif Azzopardi and Paul Thomas and Alistair Moffat",
        "cwl_eval: An Evaluation Tool for Information Retrieval",
        "SIGIR",
        2019,
        "10.1145/3331184.3331398",
    ),
    "amigo2018": (
        "inproceedings",
        "Enrique Amigó and Damiano Spina and Jorge Carrillo-de-Albornoz",
        "An Axiomatic Analysis of Diversity Evaluation Metrics: Introducing the Rank-Biased Utility Metric",
        "SIGIR",
        2018,
        "10.1145/3209978.3210024",
    ),
    "maistro2021": (
        "inproceedings",
        "Maria Maistro and Lucas Chaves Lima and Jakob Grue Simonsen and Christina Lioma",
        "Principled Multi-Aspect Evaluation Measures of Rankings",
        "CIKM",
        2021,
        "10.1145/3459637.3482287",
    ),
    "lioma2017": (
        "inproceedings",
        "Christina Lioma and Jakob Grue Simonsen and Birger Larsen",
        "Evaluation Measures for Relevance and Credibility in Ranked Lists",
        "ICTIR",
        2017,
        "10.1145/3121050.3121072",
    ),
    "palotti2018": (
        "inproceedings",
        "Joao Palotti and Guido Zuccon and Allan Hanbury",
        "MM: A New Framework for Multidimensional Evaluation of Search Engines",
        "CIKM",
        2018,
        "10.1145/3269206.3269261",
    ),
    "jarvelin2002": (
        "article",
        "Kalervo Järvelin and Jaana Kekäläinen",
        "Cumulated Gain-Based Evaluation of IR Techniques",
        "ACM Transactions on Information Systems",
        2002,
        "10.1145/582415.582418",
    ),
    "cooper1968": (
        "article",
        "William S. Cooper",
        "Expected Search Length: A Single Measure of Retrieval Effectiveness Based on the Weak Ordering Action of Retrieval Systems",
        "American Documentation",
        1968,
        "10.1002/asi.5090190108",
    ),
    "rocchio1966": (
        "phdthesis",
        "Joseph John Rocchio",
        "Document Retrieval Systems: Optimization and Evaluation",
        "Harvard University",
        1966,
        "",
    ),
    "agrawal2009": (
        "inproceedings",
        "Rakesh Agrawal and Sreenivas Gollapudi and Alan Halverson and Samuel Ieong",
        "Diversifying Search Results",
        "WSDM",
        2009,
        "10.1145/1498759.1498766",
    ),
    "sakai2011": (
        "inproceedings",
        "Tetsuya Sakai and Ruihua Song",
        "Evaluating Diversified Search Results Using Per-Intent Graded Relevance",
        "SIGIR",
        2011,
        "10.1145/2009916.2010055",
    ),
    "yang2009": (
        "inproceedings",
        "Yiming Yang and Abhimanyu Lad",
        "Modeling Expected Utility of Multi-session Information Distillation",
        "ICTIR",
        2009,
        "",
    ),
    "luo2013": (
        "inproceedings",
        "Jiyun Luo and Christopher Wing and Hui Yang and Marti Hearst",
        "The Water Filling Model and the Cube Test: Multi-dimensional Evaluation for Professional Search",
        "CIKM",
        2013,
        "",
    ),
    "zhai2003": (
        "inproceedings",
        "ChengXiang Zhai and William W. Cohen and John Lafferty",
        "Beyond Independent Relevance: Methods and Evaluation Metrics for Subtopic Retrieval",
        "SIGIR",
        2003,
        "10.1145/860435.860440",
    ),
    "chapelle2009": (
        "inproceedings",
        "Olivier Chapelle and Donald Metzler and Ya Zhang and Pierre Grinspan",
        "Expected Reciprocal Rank for Graded Relevance",
        "CIKM",
        2009,
        "10.1145/1645953.1646033",
    ),
    "clarke2008": (
        "inproceedings",
        "Charles L. A. Clarke and Maheedhar Kolla and Gordon V. Cormack and Olga Vechtomova and Azin Ashkan and "
        "Stefan Büttcher and Ian MacKinnon",
        "Novelty and Diversity in Information Retrieval Evaluation",
        "SIGIR",
        2008,
        "10.1145/1390334.1390446",
    ),
    "clarke2009": (
        "inproceedings",
        "Charles L. A. Clarke and Maheedhar Kolla and Olga Vechtomova",
        "An Effectiveness Measure for Ambiguous and Underspecified Queries",
        "ICTIR",
        2009,
        "",
    ),
    "clarke2021": (
        "article",
        "Charles L. A. Clarke and Alexandra Vtyurina and Mark D. Smucker",
        "Assessing Top-k Preferences",
        "ACM Transactions on Information Systems",
        2021,
        "10.1145/3451161",
    ),
    "buckley2004": (
        "inproceedings",
        "Chris Buckley and Ellen M. Voorhees",
        "Retrieval Evaluation with Incomplete Information",
        "SIGIR",
        2004,
        "10.1145/1008992.1009000",
    ),
    "buckley2005": (
        "incollection",
        "Chris Buckley and Ellen M. Voorhees",
        "Retrieval System Evaluation",
        "TREC: Experiment and Evaluation in Information Retrieval",
        2005,
        "",
    ),
    "yilmaz2006": (
        "inproceedings",
        "Emine Yilmaz and Javed A. Aslam",
        "Estimating Average Precision with Incomplete and Imperfect Judgments",
        "CIKM",
        2006,
        "10.1145/1183614.1183633",
    ),
    "harman1992": (
        "article",
        "Donna Harman",
        "Evaluation Issues in Information Retrieval",
        "Information Processing and Management",
        1992,
        "",
    ),
    "kantor2000": (
        "article",
        "Paul B. Kantor and Ellen M. Voorhees",
        "The TREC-5 Confusion Track: Comparing Retrieval Methods for Scanned Text",
        "Information Retrieval",
        2000,
        "",
    ),
    "rijsbergen1979": ("book", "C. J. van Rijsbergen", "Information Retrieval", "Butterworths", 1979, ""),
    "moffat2008": (
        "article",
        "Alistair Moffat and Justin Zobel",
        "Rank-Biased Precision for Measurement of Retrieval Effectiveness",
        "ACM Transactions on Information Systems",
        2008,
        "10.1145/1416950.1416952",
    ),
    "moffat2012": (
        "inproceedings",
        "Alistair Moffat and Falk Scholer and Paul Thomas",
        "Models and Metrics: IR Evaluation as a User Process",
        "ADCS",
        2012,
        "",
    ),
    "bailey2015": (
        "inproceedings",
        "Peter Bailey and Alistair Moffat and Falk Scholer and Paul Thomas",
        "User Variability and IR System Evaluation",
        "SIGIR",
        2015,
        "10.1145/2766462.2767728",
    ),
    "zhang2017": (
        "inproceedings",
        "Fan Zhang and Yiqun Liu and Xin Li and Min Zhang and Yinghui Xu and Shaoping Ma",
        "Evaluating Web Search with a Bejeweled Player Model",
        "SIGIR",
        2017,
        "",
    ),
    "macavaney2022": (
        "inproceedings",
        "Sean MacAvaney and Craig Macdonald and Iadh Ounis",
        "Streamlining Evaluation with ir-measures",
        "ECIR",
        2022,
        "10.1007/978-3-030-99739-7_38",
    ),
}

_WHERE = {"article": "journal", "inproceedings": "booktitle", "incollection": "booktitle"}
_WHERE |= {"book": "publisher", "phdthesis": "school"}


def source(key: str) -> Source:
    """A source by its key.

    >>> print(source("moffat2008").bibtex.splitlines()[0], source("moffat2008"), sep="; ")
    @article{moffat2008,; Moffat, Zobel: Rank-Biased Precision for Measurement of ... Systems 2008, doi 10.1145/1416950.1416952
    """
    kind, authors, title, where, year, doi = _FACTS[key]
    fields = {"author": authors, "title": f"{{{title}}}", _WHERE[kind]: where, "year": str(year), "doi": doi}
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    people = authors.split(" and ")
    surnames = [person.split()[-1] for person in people] if len(people) <= 4 else [people[0].split()[-1], "et al."]
    line = f"{', '.join(surnames)}: {title}, {where} {year}{f', doi {doi}' if doi else ''}"
    return Source(key, "\n".join([f"@{kind}{{{key},", *lines, "}"]), line)
