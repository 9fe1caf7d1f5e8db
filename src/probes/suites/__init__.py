"""Suites of regions and predictions (SyntaxGym; Hu et al. 2020, Pérez-Mayos et al. 2021).

A suite has items; an item has conditions, each a sentence divided into regions; predictions are formulas over region surprisals
that must hold for an item. The path: a page (`suite_page`), JSON (`json_files`) or CSV (`csv_files`) → `suite.Suite` →
sentences with their regions (`region_sentence`) and predictions as comparisons (`formula_parser`, `formula`), which the reader
`syntaxgym` turns into contrasts, judged like all others.
"""
