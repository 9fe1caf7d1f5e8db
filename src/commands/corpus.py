"""Prepare a corpus: like `train` with the same settings, but without training."""

import sys

from .help_page import FLAGS
from .train import main as train

DESCRIPTION = """\
Fetches and prepares a corpus without training. The settings are those of `concord train`, which then finds it ready.

  concord corpus data=wikipedia lang=ru                 stream from the hub, select, tokenize, count
  concord corpus data=clams lang=multi lang.languages=[de,fr]
  concord corpus data=text data.path='novels/*.txt.xz' tokenizer=sentencepiece
  concord corpus lang=it data=conllu data.path=it.conllu       a language of your own (docs/own.md)

Prepared corpora are kept in paths.cache=, downloads in paths.downloads=; both also work on nodes without a network.
`concord train --help` lists the choices.
"""


def main() -> None:
    if {*FLAGS} & {*sys.argv[1:]}:
        print(DESCRIPTION, end="")
        return
    sys.argv.append("prepare=true")
    train()


if __name__ == "__main__":
    main()
