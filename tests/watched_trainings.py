"""Small trainings that are not ours: a loop, a LightningModule and transformers' Trainer, on sentences of the built-in corpus."""

import functools
import itertools
from pathlib import Path
from typing import Any

import concord
import torch
import transformers
from concord.data.grammar.folder import CORPUS, folder_of, load
from concord.data.grammar.sample import Draw
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from torch import nn
from transformers import PreTrainedTokenizerFast

MARKS = ["<pad>", "<s>", "</s>", "<unk>", "<mask>"]
MEAN = "probe/de/agreement/mean/accuracy"


@functools.cache
def sentences(count: int = 1500) -> list[str]:
    return list(itertools.islice(Draw(load(folder_of("de"), CORPUS), 0), count))


@functools.cache
def vocabulary() -> dict[str, int]:
    words = sorted({word for sentence in sentences() for word in sentence.split()})
    return {word: number for number, word in enumerate(["<eos>", "<pad>", "<unk>", *words])}


@functools.cache
def tokenizer() -> PreTrainedTokenizerFast:
    made = Tokenizer(models.WordLevel(unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.train_from_iterator(sentences(), trainers.WordLevelTrainer(special_tokens=MARKS))
    made.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)])
    names = dict(zip(("pad_token", "bos_token", "eos_token", "unk_token", "mask_token"), MARKS, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=made, cls_token="<s>", sep_token="</s>", **names)


class Network(nn.Module):
    """From ids to logits, with dropout, and with a part that stays frozen in evaluation mode."""

    def __init__(self, size: int = 48) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(vocabulary()), size)
        self.frozen = nn.Dropout(0.5).eval()
        self.dropout = nn.Dropout(0.2)
        self.network = nn.LSTM(size, size, batch_first=True)
        self.out = nn.Linear(size, len(vocabulary()))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.out(self.network(self.dropout(self.frozen(self.embedding(ids))))[0])


def batch(step: int, size: int = 16) -> torch.Tensor:
    """Rows of ids between two `<eos>`, filled up with `<pad>`."""
    known = vocabulary()
    chosen = [sentences()[(step * size + row) % len(sentences())].split() for row in range(size)]
    longest = max(map(len, chosen))
    return torch.tensor([[0, *(known[word] for word in words), 0, *[1] * (longest - len(words))] for words in chosen])


def loss_of(module: nn.Module, ids: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(module(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=1)


def small_sets(*constructions: str, limit: int = 12) -> concord.Sets:
    return concord.sets("de", *(constructions or ("simple_agrmt", "prep")), limit=limit)


def hf_model(family: str) -> Any:
    pieces = len(tokenizer())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        if family == "gpt2":
            sizes = {"n_embd": 48, "n_layer": 2, "n_head": 2, "n_positions": 64}
            return transformers.GPT2LMHeadModel(
                transformers.GPT2Config(vocab_size=pieces, bos_token_id=1, eos_token_id=2, **sizes)
            )
        sizes = {"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
        return transformers.BertForMaskedLM(
            transformers.BertConfig(vocab_size=pieces, max_position_embeddings=64, pad_token_id=0, **sizes)
        )


def easy_sentences() -> list[str]:
    """The grammatical sentences of a set: what a small model learns in some hundred steps."""
    items = concord.sets("de", "simple_agrmt")["simple_agrmt"]
    return [f"{' '.join(variant.words)} ." for item in items for variant in item.variants if variant.grammatical]


def hf_trainer(family: str, folder: Path, texts: list[str] | None = None, **settings: Any) -> transformers.Trainer:
    read = [dict(tokenizer()(text, return_token_type_ids=False)) for text in texts or sentences()]
    told = {"max_steps": 8, "per_device_train_batch_size": 16, "learning_rate": 3e-3, "report_to": [], "logging_steps": 4}
    told |= {"use_cpu": True, "disable_tqdm": True, "save_strategy": "no", "seed": 1, "dataloader_pin_memory": False}
    collator = transformers.DataCollatorForLanguageModeling(tokenizer(), mlm=family == "bert")
    return transformers.Trainer(
        hf_model(family),
        transformers.TrainingArguments(str(folder), **told | settings),
        train_dataset=read[:-50],
        eval_dataset=settings.pop("eval_dataset", read[-50:]),
        data_collator=collator,
        processing_class=tokenizer(),
    )


def same(one: nn.Module, other: nn.Module) -> bool:
    first, second = one.state_dict(), other.state_dict()
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)
