"""Published challenge sets, by name: what they are, where they are, and how they are fetched.

A set on GitHub is known file by file: `published_files.csv` has the size and checksum of each at one commit. A dataset on the
Hugging Face hub is not: the commit that is current at the first fetch, and what arrives then, are recorded and binding from then
on. We redistribute nothing; every file comes from where its authors put it.
"""

import csv
import json
import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote

from ..data.download import Downloads, Record, fetch, verify
from ..files import write_atomically
from ..settings.language_codes import name_of, same_language, shortest, spellings
from .challenge_set import SetError
from .readers.table import TABLES

log = logging.getLogger(__name__)
FILES = Path(__file__).parent / "published_files.csv"
ABOUT = "SOURCE.md"
# Both can be mirrors; the hub's own tools also obey HF_ENDPOINT.
GITHUB, HUB = "https://raw.githubusercontent.com", "https://huggingface.co"


@dataclass(frozen=True)
class PublishedSet:
    """`languages`: the codes it covers; empty: its folders say so. In `folder`, {lang} is the language as its files spell it."""

    name: str
    title: str
    languages: tuple[str, ...]
    licence: str
    citation: str
    github: str = ""
    commit: str = ""
    hub: str = ""
    folder: str = ""  # only files below it

    @property
    def home(self) -> str:
        return f"https://github.com/{self.github}" if self.github else f"{HUB}/datasets/{self.hub}"


PUBLISHED = {
    each.name: each
    for each in (
        PublishedSet(
            "blimp",
            "BLiMP: 67 English paradigms of 1,000 pairs",
            ("en",),
            "CC BY 4.0",
            "Warstadt et al. 2020, BLiMP: The Benchmark of Linguistic Minimal Pairs for English, TACL 8",
            github="alexwarstadt/blimp",
            commit="3e56b06fcabca9b30822fc66435fca6b1aa40bb1",
            folder="data/",
        ),
        PublishedSet(
            "multiblimp",
            "MultiBLiMP 1.0: agreement in 101 languages",
            (),
            "CC BY 4.0",
            "Jumelet, Weissweiler, Nivre and Bisazza 2025, MultiBLiMP 1.0, arXiv:2504.02768",
            hub="jumelet/multiblimp",
            folder="{lang}/",
        ),
        PublishedSet(
            "clams",
            "CLAMS: agreement in five languages",
            ("en", "fr", "de", "he", "ru"),
            "Apache-2.0",
            "Mueller et al. 2020, Cross-Linguistic Syntactic Evaluation of Word Prediction Models, ACL",
            github="aaronmueller/clams",
            commit="36b5c9a56ecc51d3eedb6c1a85b805085d631c71",
            folder="{lang}_evalset/",
        ),
        PublishedSet(
            "marvin_linzen",
            "Marvin and Linzen's English templates",
            ("en",),
            "MIT",
            "Marvin and Linzen 2018, Targeted Syntactic Evaluation of Language Models, EMNLP",
            github="BeckyMarvin/LM_syneval",
            commit="edb737877a02092807ac55e165d653108b8e1509",
            folder="data/templates/",
        ),
        PublishedSet(
            "syntaxgym",
            "SyntaxGym: 34 English suites",
            ("en",),
            "MIT",
            "Hu et al. 2020, A Systematic Assessment of Syntactic Generalization in Neural Language Models, ACL",
            github="cpllab/syntactic-generalization",
            commit="43f1f86b746254406dafc89bd17b9d4976607ef6",
            folder="test_suites/json/",
        ),
        PublishedSet(
            "rublimp",
            "RuBLiMP: 45 Russian paradigms of 1,000 pairs",
            ("ru",),
            "Apache-2.0",
            "Taktasheva et al. 2024, RuBLiMP: Russian Benchmark of Linguistic Minimal Pairs, EMNLP",
            github="RussianNLP/RuBLiMP",
            commit="9f0d8dfa993b2c0f0acf12660258540376779543",
            folder="datasets/",
        ),
        PublishedSet(
            "turblimp",
            "TurBLiMP: 16 Turkish phenomena of 1,000 pairs",
            ("tr",),
            "CC BY 4.0",
            "Başar, Padovani, Jumelet and Bisazza 2025, TurBLiMP: A Turkish Benchmark of Linguistic Minimal Pairs, EMNLP",
            github="ezgibasar/TurBLiMP",
            commit="297de13fb7a0ce524fe32e8b175c6b5255d66960",
            folder="data/base/",
        ),
        PublishedSet(
            "sling",
            "SLING: Mandarin, 54 files of pairs",
            ("zh",),
            "MIT",
            "Song et al. 2022, SLING: Sino Linguistic Evaluation of Large Language Models, EMNLP",
            github="Yixiao-Song/SLING_Data_Code",
            commit="5a7f791fbb9db6d2fee66e128fe89c80ac1f993b",
            folder="SLING_Data/",
        ),
        PublishedSet(
            "gevalm",
            "gevalm: German agreement, 14 cases",
            ("de",),
            "none stated by its authors; fetched for you, never passed on",
            "Zaczynska et al. 2020, How Much Does BERT Know About German Agreement?, GermEval",
            github="DFKI-NLP/gevalm",
            commit="58157d350a91761845b1bcd634577a82ac836142",
            folder="data/input/",
        ),
        PublishedSet(
            "blimp_nl",
            "BLiMP-NL: Dutch",
            ("nl",),
            "CC BY 4.0",
            "Suijkerbuijk et al. 2025, BLiMP-NL: A Corpus of Dutch Minimal Pairs, Computational Linguistics 51",
            hub="juletxara/blimp-nl",
        ),
        PublishedSet(
            "zhoblimp",
            "ZhoBLiMP: Chinese",
            ("zh",),
            "not verified; see its page before you pass anything on",
            "Liu et al. 2024, ZhoBLiMP: A Systematic Assessment of Language Models with Linguistic Minimal Pairs in Chinese",
            hub="Junrui1202/zhoblimp",
        ),
        PublishedSet(
            "qfrblimp",
            "QFrBLiMP: Quebec French",
            ("fr",),
            "CC BY-NC-SA 4.0: not for commercial use, and only under the same licence",
            "Beauchemin et al. 2025, QFrBLiMP: a Quebec-French Benchmark of Linguistic Minimal Pairs",
            hub="graalul/qfrblimp",
        ),
    )
}


@cache
def known_files() -> dict[str, dict[str, Record]]:
    """Size and checksum of every set on GitHub, by path in its repository."""
    found: dict[str, dict[str, Record]] = {}
    with FILES.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            found.setdefault(row["set"], {})[row["path"]] = Record("", int(row["bytes"]), row["sha256"])
    return found


def fetch_published(name: str, language: str, downloads: Downloads) -> Path:
    """The folder with a language's sets; missing files are fetched."""
    if name not in PUBLISHED:
        raise SetError(name, None, f"no published set of this name; available: {', '.join(PUBLISHED)}")
    made = PUBLISHED[name]
    if made.languages and not any(same_language(language, code) for code in made.languages):
        there = ", ".join(f"{code} ({name_of(code)})" for code in made.languages)
        raise SetError(name, None, f"these sets are not in {name_of(language)} (lang={language}); they are in {there}")
    folder = downloads.folder / "sets" / name
    if made.hub:
        return fetch_dataset(made.hub, folder, downloads, made, language)
    wanted = dict(_below(known_files()[name], made.folder.replace("{lang}", shortest(language))))
    place = folder / made.commit[:12] / (shortest(language) if "{lang}" in made.folder else "all")
    base = f"{os.environ.get('CONCORD_GITHUB', GITHUB).rstrip('/')}/{made.github}/{made.commit}/"
    _fetch_all({path: (f"{base}{quote(path)}", record) for path, record in wanted.items()}, place, downloads, made)
    return place


def _below(files: dict[str, Record], folder: str) -> Iterator[tuple[str, Record]]:
    return ((path, record) for path, record in files.items() if path.startswith(folder))


def fetch_dataset(
    dataset: str, folder: Path, downloads: Downloads, made: PublishedSet | None = None, language: str = "", part: str = ""
) -> Path:
    """The tables of a dataset on the hub, at the commit that was current when it was first requested.

    `part` is a folder, or a prefix of the file names, to restrict it to.
    """
    base = os.environ.get("HF_ENDPOINT", HUB).rstrip("/")
    offline = not downloads.allowed or os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on")
    page = folder / "dataset.json"
    fetch(f"{base}/api/datasets/{dataset}/revision/main", page, offline, downloads.patience)
    commit, paths = _listed(page, dataset)
    if made is not None and "{lang}" in made.folder:
        part = _folder_of_language(made, language, paths)
    wanted = [path for path in paths if path.startswith(part)]
    if not wanted:
        raise SetError(dataset, None, f"no table under {part or 'it'} ({', '.join(sorted(TABLES))}); available: {_some(paths)}")
    place = folder / commit[:12] / (part.strip("/").replace("/", "_") or "all")
    addresses = {path: (f"{base}/datasets/{dataset}/resolve/{commit}/{quote(path)}", None) for path in wanted}
    _fetch_all(addresses, place, Downloads(downloads.folder, not offline, downloads.patience), made)
    return place


def _listed(page: Path, dataset: str) -> tuple[str, list[str]]:
    """A dataset's commit and the tables in it, from the hub's description."""
    try:
        said = json.loads(page.read_text(encoding="utf-8"))
        commit, names = str(said["sha"]), [str(each["rfilename"]) for each in said["siblings"]]
    except (ValueError, KeyError, TypeError):
        page.unlink()
        raise SetError(dataset, None, "the hub's description of this dataset cannot be understood; try again later") from None
    return commit, [name for name in names if Path(name).suffix in TABLES and ".." not in Path(name).parts]


def _folder_of_language(made: PublishedSet, language: str, paths: list[str]) -> str:
    folders = [made.folder.replace("{lang}", code) for code in spellings(language)]
    for folder in folders:
        if any(path.startswith(folder) for path in paths):
            return folder
    there = sorted({path.split("/")[0] for path in paths if "/" in path})
    raise SetError(
        made.name, None, f"these sets are not in {name_of(language)} (lang={language}); they are in {', '.join(there)}"
    )


def _some(paths: list[str]) -> str:
    return ", ".join(paths[:12]) + (" …" if len(paths) > 12 else "") if paths else "none"


def _fetch_all(
    files: Mapping[str, tuple[str, Record | None]], place: Path, downloads: Downloads, made: PublishedSet | None
) -> None:
    """Every file, under a unique name; first report what they are, their size, and their licence."""
    names = dict(zip(files, local_names(list(files)), strict=True))
    missing = [path for path in files if not (place / names[path]).exists()]
    if missing and not downloads.allowed:
        what = f"concord sets fetch {made.name}" if made else "the same command"
        raise SetError(
            made.name if made else place.parent.parent.name,
            None,
            f"{len(missing)} of {len(files)} files are missing, and the network is switched off; run {what} on a machine with a "
            f"network, then copy {downloads.folder} here (paths.downloads=, or CONCORD_CACHE)",
        )
    if missing and made is not None:
        sizes = [record.size for _, record in files.values() if record is not None]
        size = f"{sum(sizes) / 1e6:,.1f} MB in " if sizes else ""
        log.info("sets       %s: %s%s files from %s", made.title, size, len(files), made.home)
        log.info("licence    %s", made.licence)
        log.info("citation   %s", made.citation)
        if None in (record for _, record in files.values()):
            log.info("checksums  none published: this download's are recorded, and later downloads must match")
    for path, (url, expected) in files.items():
        fetch(url, place / names[path], not downloads.allowed, downloads.patience, expected)
        verify(place / names[path])
    if missing and made is not None:
        write_atomically(place / ABOUT, about(made, sorted(files)))


def local_names(paths: list[str]) -> list[str]:
    """Each file's name; with its folders if two share a name, or its folder's if it is called data."""
    last = [Path(path).name for path in paths]
    return [
        f"{Path(path).parent.name}{Path(path).suffix}"
        if Path(path).stem == "data" and len(Path(path).parts) > 1
        else (name if last.count(name) == 1 else path.replace("/", "_"))
        for path, name in zip(paths, last, strict=True)
    ]


def about(made: PublishedSet, paths: list[str]) -> str:
    """The text kept beside the files."""
    lines = [f"# {made.title}", "", f"From {made.home}" + (f", commit {made.commit}" if made.commit else ""), ""]
    lines += [f"Licence: {made.licence}", "", f"Please cite: {made.citation}", "", "Files:", *(f"- {path}" for path in paths)]
    return "\n".join([*lines, ""])
