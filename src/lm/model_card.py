"""The card of an exported model: what it is, what it was trained on, how to use it, and what cannot work elsewhere."""

import json

from ..data.vocabulary import Tokenizer
from ..files import JsonObject
from .model import LanguageModel

MAIN = "main"  # the revision that the hub shows
CARD = """\
---
library_name: transformers
pipeline_tag: text-generation
license: other
language: {language}
tags: [concord, {network}]
---
# {title}

A {kind} of {parameters:,} parameters over {size:,} {units}, trained with Concord.

```python
from transformers import AutoModelForCausalLM, AutoTokenizer
model = AutoModelForCausalLM.from_pretrained({where}, trust_remote_code=True)
tokenizer = AutoTokenizer.from_pretrained({where}, trust_remote_code=True)
```

## Training data
{data}

## Results
{results}

## What to know
- A sentence starts after `<eos>`, which the tokenizer puts first.
- {text}
- `logits` are log-probabilities. There is no cache: every step of `generate` reads the whole text again.
- `trust_remote_code=True` runs this folder's `modeling_concord.py`, which needs torch and transformers (tested with 4.51 and 5).
  If Concord is installed, `import concord.lm.hf` loads the folder without running its code.

## Licence
Not stated: if you publish this model, choose one that the training data allow, and state it here and at `license:` above.
"""


def model_card(name: str, revision: str, model: LanguageModel, tokenizer: Tokenizer, about: JsonObject, results: str) -> str:
    """In Markdown, with the header that the Hugging Face hub reads. `revision`: of a model with several."""
    asked = revision if revision != MAIN else ""
    network = str(model.architecture.network["name"])
    language = about.get("language") or {}
    data = (about.get("settings") or {}).get("data") or {}
    stated = {key: value for key, value in data.items() if value not in (None, [], {}) and key != "name"}
    rows = [f"| {key} | {_as_written(value)} |" for key, value in stated.items()]
    listed = "\n".join(["| setting | value |", "|---|---|", *rows]) if rows else ""
    cut = bool(tokenizer.begins())
    unknown = "unknown characters become bytes" if cut else "unknown words become `<unk>`"
    return CARD.format(
        title=f"{name}, {asked}" if asked else name,
        where=f'"{name}", revision="{asked}"' if asked else f'"{name}"',
        language=language.get("code", "und"),
        network=network,
        kind="word-by-word LSTM" if network == "lstm" else "causal Transformer",
        parameters=model.parameter_count(),
        size=len(tokenizer),
        units="pieces of words" if cut else "words",
        data=f"`data={data.get('name', '?')}`, {language.get('name', 'language not stated')}.\n\n{listed}".strip(),
        results=results or "None found beside the checkpoint.",
        text=f"Write text the way its corpus was written, as separate tokens or as running text; {unknown}.",
    )


def _as_written(value: object) -> str:
    """As in a configuration file: true, not True."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
