"""What the numbers of a run are called, in metrics.csv, in W&B and for callbacks: the one place that knows."""

TRAIN_LOSS = "train/loss"
LEARNING_RATE = "progress/learning_rate"
EPOCH = "progress/epoch"
WORDS_PER_SECOND = "time/words_per_second"
PROBE_SECONDS = "time/probe_seconds"
TEST = "test/"  # before the name of everything that is measured with the final weights
PROBE = "probe/"


def seen(axis: str) -> str:
    """How many words or tokens the model had been trained on."""
    return f"progress/{axis}_seen"


def loss(split: str) -> str:
    return f"{split}/loss"


def perplexity(split: str, language: str = "") -> str:
    """Of all the text, or of one language of several."""
    return f"{split}/{language}/perplexity" if language else f"{split}/perplexity"


def per_word(perplexity: str) -> str:
    """The same where tokens are pieces of words, divided by words."""
    return f"{perplexity}_word"


def macro(perplexity: str) -> str:
    """The same as the mean over sentences."""
    return f"{perplexity}_macro"


def probe(language: str, collection: str, *names: str) -> str:
    """Of the sets of a language: `probe/de/agreement/prep/accuracy`; without names, what all of them begin with."""
    return PROBE + "/".join((language, collection, *names))


def is_perplexity(name: str, split: str) -> bool:
    """Of any kind: of all, of one language, per word, over sentences."""
    return name.startswith(f"{split}/") and "perplexity" in name.rpartition("/")[2]


WORDS_SEEN = seen("words")
VALID_PERPLEXITY = perplexity("valid")
TEST_PERPLEXITY = perplexity("test")
