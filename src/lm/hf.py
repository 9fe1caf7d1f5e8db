"""Our models for transformers: `import concord.lm.hf`, and Auto* load what an export wrote. The folder itself has no code."""

from typing import Any

import torch
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import AutoConfig, AutoModelForCausalLM, PretrainedConfig, PreTrainedModel, PreTrainedTokenizerFast
from transformers.modeling_outputs import CausalLMOutput

from ..data.vocabulary import EOS, EOS_ID, UNK, Vocabulary
from .model import Architecture, LanguageModel
from .networks.transformer import Transformer, sinusoids


class ConcordConfig(PretrainedConfig):
    """The architecture, and what else a checkpoint says of itself."""

    model_type = "concord"

    def __init__(self, architecture: dict[str, Any] | None = None, about: dict[str, Any] | None = None, **rest: Any) -> None:
        self.architecture = architecture or {}
        self.about = about or {}
        self.vocab_size = self.architecture.get("vocabulary_size", 0)
        rest = {"bos_token_id": EOS_ID, "eos_token_id": EOS_ID, "tie_word_embeddings": bool(self.architecture.get("tied"))} | rest
        super().__init__(**rest)


class ConcordForCausalLM(PreTrainedModel):
    """`LanguageModel` as transformers wants it. A sentence begins after `<eos>`, with nothing remembered."""

    config_class = ConcordConfig
    base_model_prefix = ""
    _tied_weights_keys = {"model.decoder.weight": "model.embedding.weight"}  # noqa: RUF012 - their way to say it

    def __init__(self, config: ConcordConfig) -> None:
        super().__init__(config)
        self.model = LanguageModel(Architecture(**config.architecture))
        self.post_init()

    def get_input_embeddings(self) -> torch.nn.Module:
        return self.model.embedding

    def get_output_embeddings(self) -> torch.nn.Module:
        return self.model.decoder

    def _init_weights(self, module: torch.nn.Module) -> None:
        """The model starts its weights itself; but transformers builds it without storage, and positions are in no file."""
        if isinstance(module, Transformer):
            module.positions = sinusoids(*module.positions.shape)

    def forward(self, input_ids: torch.Tensor, labels: torch.Tensor | None = None, **_: Any) -> CausalLMOutput:
        """Padding belongs on the right, where it changes nothing. The logits are log-probabilities."""
        logprobs, _state = self.model(input_ids)  # (B, T, V)
        loss: Any = None
        if labels is not None:
            loss = torch.nn.functional.nll_loss(logprobs[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)
        return CausalLMOutput(loss=loss, logits=logprobs)


def fast_tokenizer(vocabulary: Vocabulary, rule: dict[str, Any] | None) -> PreTrainedTokenizerFast:
    """Words by their numbers. With a rule (`tokens`, `replace`) raw text is cut as for training, without one at spaces."""
    made = Tokenizer(models.WordLevel(vocabulary.ids, unk_token=UNK))
    if rule is None:
        made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    else:
        replaced = [normalizers.Replace(old, new) for old, new in rule["replace"].items()]
        made.normalizer = normalizers.Sequence([normalizers.NFC(), *replaced])
        made.pre_tokenizer = pre_tokenizers.Split(Regex(rule["tokens"]), "removed", invert=True)
    made.post_processor = processors.TemplateProcessing(single=f"{EOS} $A", special_tokens=[(EOS, vocabulary.eos)])
    return PreTrainedTokenizerFast(tokenizer_object=made, bos_token=EOS, eos_token=EOS, pad_token=EOS, unk_token=UNK)


AutoConfig.register(ConcordConfig.model_type, ConcordConfig, exist_ok=True)
AutoModelForCausalLM.register(ConcordConfig, ConcordForCausalLM, exist_ok=True)
