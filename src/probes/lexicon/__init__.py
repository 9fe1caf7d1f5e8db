"""Sets whose words fit a model's vocabulary: what it knows (`known_words`), which words are chosen (`fitting`), how the
choice is shown and saved (`word_table`), and which choice a collection requests (`choice`).
"""
