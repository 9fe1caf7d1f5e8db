"""Trainings of others, watched: any loop, any LightningModule, transformers' Trainer, and checkpoints that were published.

Every one of them ends in the folder of a run like ours, so that reports show it like ours.
"""
