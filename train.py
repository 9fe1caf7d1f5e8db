"""Train a language model: `python train.py lang=de model=lstm`. `python train.py --help` lists what can be chosen."""

from concord.commands.train import main

if __name__ == "__main__":
    main()
