"""Prepare a corpus: as `train` with the same settings, but nothing is trained."""

import sys

from .help_page import FLAGS
from .train import main as train

DESCRIPTION = """\
Fetches and prepares a corpus, without training: with the settings of `concord train`, which then finds it ready.

  concord corpus data=wikipedia lang=ru                 stream it from the hub, choose, cut, count
  concord corpus data=clams lang=multi lang.languages=[de,fr]
  concord corpus data=text data.path='novels/*.txt.xz' tokenizer=sentencepiece
  concord corpus lang=it data=conllu data.path=it.conllu       a language of your own (docs/own.md)

Prepared corpora are kept in paths.cache=, downloads in paths.downloads=; on nodes without a network both are used as they are.
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
