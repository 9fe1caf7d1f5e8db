"""Language models: networks, training, checkpoints, perplexity.

Shapes: B batch, T time, V vocabulary, D embedding, H hidden (the width of the context network), L layers, N tokens to predict.
"""
