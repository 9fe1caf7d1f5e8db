"""Evaluate a model: `python evaluate.py ckpt_path=runs/…/checkpoints/best.ckpt`. `python evaluate.py --help` lists the rest."""

from concord.commands.evaluate import main

if __name__ == "__main__":
    main()
