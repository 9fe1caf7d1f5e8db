"""Challenge sets from treebanks: `extraction` finds items, `paradigms` know the other forms, `controls` make sister sets."""
