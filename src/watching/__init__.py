"""Watching other people's training: any loop, any LightningModule, transformers' Trainer, and published checkpoints.

Each of them ends in a run folder like ours, so that reports show it like one of our runs.
"""
