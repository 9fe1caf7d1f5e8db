"""The names of a run's metrics, in metrics.csv, in W&B and for callbacks: their one owner."""

TRAIN_LOSS = "train/loss"
LEARNING_RATE = "progress/learning_rate"
EPOCH = "progress/epoch"
WORDS_PER_SECOND = "time/words_per_second"
PROBE_SECONDS = "time/probe_seconds"
TEST = "test/"  # prefix of everything measured with the final weights
PROBE = "probe/"


def seen(axis: str) -> str:
    """How many words or tokens the model has been trained on."""
    return f"progress/{axis}_seen"


def loss(split: str) -> str:
    return f"{split}/loss"


def perplexity(split: str, language: str = "") -> str:
    """Perplexity of all the text, or of one language of several."""
    return f"{split}/{language}/perplexity" if language else f"{split}/perplexity"


def per_word(perplexity: str) -> str:
    """The same per word, where tokens are pieces of words."""
    return f"{perplexity}_word"


def macro(perplexity: str) -> str:
    """The same as a mean over sentences."""
    return f"{perplexity}_macro"


def probe(language: str, collection: str, *names: str) -> str:
    """Metrics of a language's sets: `probe/de/agreement/prep/accuracy`; without names, the common prefix."""
    return PROBE + "/".join((language, collection, *names))


def is_perplexity(name: str, split: str) -> bool:
    """Perplexity of any kind: overall, of one language, per word, over sentences."""
    return name.startswith(f"{split}/") and "perplexity" in name.rpartition("/")[2]


WORDS_SEEN = seen("words")
VALID_PERPLEXITY = perplexity("valid")
TEST_PERPLEXITY = perplexity("test")
