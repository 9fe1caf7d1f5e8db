"""Our models for transformers: after `import concord.lm.hf`, Auto* classes load exports without running the folder's code."""

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

from ..data.pieces import START, Pieces
from ..data.vocabulary import EOS, UNK, Vocabulary
from ..data.vocabulary import Tokenizer as OwnTokenizer
from ..files import JsonObject
from .modeling_concord import ConcordConfig, ConcordForCausalLM


def fast_tokenizer(own: OwnTokenizer, rule: JsonObject | None) -> PreTrainedTokenizerFast:
    """Words or pieces by id. With a rule (`tokens`, `replace`) raw text is split as for training, otherwise at spaces."""
    pieces = isinstance(own, Pieces)
    made = Tokenizer(_piece_model(own) if isinstance(own, Pieces) else _word_model(own))
    replaced = [normalizers.Replace(old, new) for old, new in (rule["replace"] if rule else {}).items()]
    if pieces:
        replaced.append(normalizers.Replace(START, "_"))  # marks word starts and nothing else
    if rule or pieces:
        made.normalizer = normalizers.Sequence([*([normalizers.NFC()] if rule else []), *replaced])
    cut: pre_tokenizers.PreTokenizer = (
        pre_tokenizers.WhitespaceSplit() if rule is None else pre_tokenizers.Split(Regex(rule["tokens"]), "removed", invert=True)
    )
    if pieces:
        marks = pre_tokenizers.Metaspace(replacement=START, prepend_scheme="always", split=False)
        cut = pre_tokenizers.Sequence([cut, marks])
        spaces = [decoders.Replace(START, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
        made.decoder = decoders.Sequence(spaces)
    made.pre_tokenizer = cut
    made.post_processor = processors.TemplateProcessing(single=f"{EOS} $A", special_tokens=[(EOS, own.eos)])
    return PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token=EOS, eos_token=EOS, pad_token=EOS, unk_token=UNK, clean_up_tokenization_spaces=False
    )


def _word_model(vocabulary: OwnTokenizer) -> models.Model:
    assert isinstance(vocabulary, Vocabulary)
    return models.WordLevel(vocabulary.ids, unk_token=UNK)


def _piece_model(pieces: Pieces) -> models.Model:
    """The same pieces in transformers' library."""
    numbers = range(len(pieces))
    scores = pieces.processor.get_score(list(numbers))
    if _is_unigram(pieces):
        return models.Unigram(list(zip(pieces.words, scores, strict=True)), pieces.unk, byte_fallback=True)
    ids = {piece: number for number, piece in enumerate(pieces.words)}
    learnt = [n for n in numbers if not (pieces.processor.is_control(n) or pieces.processor.is_byte(n) or n == pieces.unk)]
    merges = [
        (ids[word], (word[:at], word[at:]))
        for word in (pieces.words[n] for n in learnt)
        for at in range(1, len(word))
        if word[:at] in ids and word[at:] in ids
    ]
    # A piece's score falls in the order learnt; of several ways to build it, the one from older parts comes first.
    merges.sort(key=lambda each: (-scores[each[0]], ids[each[1][0]], ids[each[1][1]]))
    return models.BPE(ids, [parts for _, parts in merges], unk_token=UNK, fuse_unk=False, byte_fallback=True)


def _is_unigram(pieces: Pieces) -> bool:
    """The kind of model, by its scores: log-probabilities, or whole numbers that give the order."""
    scores = pieces.processor.get_score(list(range(2, len(pieces))))
    return any(score != int(score) for score in scores)


AutoConfig.register(ConcordConfig.model_type, ConcordConfig, exist_ok=True)
AutoModelForCausalLM.register(ConcordConfig, ConcordForCausalLM, exist_ok=True)
