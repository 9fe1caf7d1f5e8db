"""Suites of regions and predictions (SyntaxGym; Hu et al. 2020, Pérez-Mayos et al. 2021).

A suite has items; an item has conditions, each a sentence cut into regions; predictions are formulas over region surprisals
that must be true of an item. The way through: a page (`page`), JSON (`json_files`) or CSV (`csv_files`) → `suite.Suite` →
sentences with their regions (`sentence`) and predictions as comparisons (`formula_parser`, `formula`), which the reader
`syntaxgym` turns into contrasts: they are judged as all others are.
"""
