"""Tiny models of several families, random weights with tokenizers that were really trained, in folders as the hub has them."""

import functools
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

# Frequent words become one piece; rare ones (swims, bleibt, naïve) are cut.
CORPUS = [
    "the author laughs . the authors laugh . the pilot near the teachers smiles . the pilots near the teacher smile .",
    "the author that the guards like laughs . the consultants near the pilot laugh . der Gast lacht . die Gäste lachen .",
    "the author laughs . the authors laugh . the pilot smiles , and the senator is old . the guard sees Élise .",
    "abcdefghijklmnopqrstuvwxyz aïÉ'.,",  # every letter, so that no word of the tests is unknown by accident
] * 4
WORDPIECE = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
SENTENCEPIECE = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", "mask_token": "<mask>"}
SMALL = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, "initializer_range": 0.4}


def wordpiece() -> PreTrainedTokenizerFast:
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=False)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.train_from_iterator(CORPUS, trainers.WordPieceTrainer(vocab_size=150, special_tokens=list(WORDPIECE.values())))
    return closed(made, WORDPIECE, "[CLS] $A [SEP]", ("[CLS]", "[SEP]"))


def contraction() -> PreTrainedTokenizerFast:
    """Cuts `don't` into do ##n ' t, of which it takes the first two for one word."""
    pieces = [*WORDPIECE.values(), "the", "guard", "##s", "do", "##n", "'", "t", "laugh", "."]
    made = Tokenizer(models.WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=False)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return closed(made, WORDPIECE, "[CLS] $A [SEP]", ("[CLS]", "[SEP]"))


def sentencepiece() -> PreTrainedTokenizerFast:
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    special = list(SENTENCEPIECE.values())
    trainer = trainers.UnigramTrainer(vocab_size=120, special_tokens=special, unk_token="<unk>")
    made.train_from_iterator(CORPUS, trainer)
    return closed(made, SENTENCEPIECE, "<s> $A </s>", ("<s>", "</s>"))


def bytes_bpe() -> PreTrainedTokenizerFast:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=330, special_tokens=["<|endoftext|>", "<|other|>"], initial_alphabet=alphabet)
    made.train_from_iterator(CORPUS, trainer)
    made.post_processor = processors.ByteLevel(trim_offsets=False)  # a piece may contain the space before its word
    return PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<|endoftext|>", eos_token="<|other|>")


def closed(made: Tokenizer, names: dict[str, str], template: str, marks: tuple[str, str]) -> PreTrainedTokenizerFast:
    numbered = [(mark, made.token_to_id(mark)) for mark in marks]
    made.post_processor = processors.TemplateProcessing(single=template, special_tokens=numbered)
    return PreTrainedTokenizerFast(tokenizer_object=made, **names)


def config(family: str, pieces: int, positions: int = 40) -> Any:
    match family:
        case "bert" | "bert-contraction":
            return transformers.BertConfig(vocab_size=pieces, max_position_embeddings=positions, **SMALL)
        case "xlm-roberta":
            return transformers.XLMRobertaConfig(
                vocab_size=pieces, max_position_embeddings=positions + 2, pad_token_id=1, **SMALL
            )
        case "gpt2":
            return transformers.GPT2Config(
                vocab_size=pieces, n_embd=24, n_layer=2, n_head=2, n_positions=positions, initializer_range=0.4
            )
        case "llama":
            return transformers.LlamaConfig(vocab_size=pieces, max_position_embeddings=positions, **SMALL)
        case "gpt-neo":  # every other layer looks back 64 places, however the tree is masked
            return transformers.GPTNeoConfig(
                vocab_size=pieces,
                hidden_size=24,
                num_layers=2,
                num_heads=2,
                attention_types=[[["global", "local"], 1]],
                window_size=64,
                max_position_embeddings=positions,
            )
        case "bloom":  # takes no positions: it cannot read a tree
            return transformers.BloomConfig(vocab_size=pieces, hidden_size=24, n_layer=2, n_head=2, initializer_range=0.4)
    raise ValueError(family)


CLASSES = {
    "bert": ("BertForMaskedLM", wordpiece),
    "bert-contraction": ("BertForMaskedLM", contraction),
    "xlm-roberta": ("XLMRobertaForMaskedLM", sentencepiece),
    "gpt2": ("GPT2LMHeadModel", bytes_bpe),
    "llama": ("LlamaForCausalLM", sentencepiece),
    "bloom": ("BloomForCausalLM", bytes_bpe),
    "gpt-neo": ("GPTNeoForCausalLM", bytes_bpe),
}
MASKED, CAUSAL = ["bert", "xlm-roberta"], ["gpt2", "llama", "bloom"]


def save(family: str, folder: Path, seed: int = 0, name: str | None = None, positions: int = 40) -> Path:
    """A model of a family in a folder; `name` is another class with the same configuration."""
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    tokenizer = cut(family)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = getattr(transformers, name or CLASSES[family][0])(config(family, len(tokenizer), positions))
        for parameter in made.parameters():  # biases too, which begin as zeros
            torch.nn.init.normal_(parameter, std=0.3)
    made.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@functools.cache
def cut(family: str) -> PreTrainedTokenizerFast:
    return CLASSES[family][1]()
