"""Challenge sets from treebanks: `extraction` finds items, `word_forms` the other forms, `controls` make sister sets."""
