"""Prepare a corpus: as `train` with the same settings, but nothing is trained."""

import sys

from .train import main as train


def main() -> None:
    sys.argv.append("prepare=true")
    train()


if __name__ == "__main__":
    main()
