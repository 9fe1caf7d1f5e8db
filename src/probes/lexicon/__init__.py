"""Sets whose words fit the vocabulary of a model: what it knows (`known_words`), which words are chosen (`fitting`), how
the choice is told and kept (`word_table`), and which choice a collection asks for (`choice`).
"""
