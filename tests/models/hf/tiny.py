"""Tiny vision-language models with their true processors, built here and saved as hub folders; nothing is fetched."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    Idefics3Config,
    Idefics3ForConditionalGeneration,
    Idefics3Processor,
    PreTrainedTokenizerFast,
)
from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil

WORDS = ["Does this ECG show sinus rhythm? Yes No The rate is 72 per minute. User: Assistant: question answer"] * 50
SPECIAL = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<fake_token_around_image>",
    "<image>",
    "<end_of_utterance>",
    "<global-img>",
    *(f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7)),
]
CHAT = (
    "<|im_start|>{% for m in messages %}{{ m['role'] | capitalize }}:"
    "{% for p in m['content'] %}{% if p['type'] == 'image' %}<image>{% else %}"
    "{% if loop.first %} {% endif %}{{ p['text'] }}{% endif %}{% endfor %}<end_of_utterance>\n"
    "{% endfor %}{% if add_generation_prompt %}Assistant:{% endif %}"
)


def tokenizer(special: list[str], **named: Any) -> PreTrainedTokenizerFast:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        WORDS, trainers.BpeTrainer(vocab_size=600, special_tokens=special, initial_alphabet=alphabet)
    )
    return PreTrainedTokenizerFast(tokenizer_object=made, padding_side="left", **named)


def idefics3(folder: Path, seed: int = 0, *, tile: int = 64, longest: int = 128) -> Path:
    """A SmolVLM in small, with random weights that look at pictures."""
    words = tokenizer(SPECIAL, bos_token="<|im_start|>", eos_token="<end_of_utterance>", pad_token="<|im_end|>")
    pictures = Idefics3ImageProcessorPil(
        size={"longest_edge": longest},
        max_image_size={"longest_edge": tile},
        do_image_splitting=True,
        image_mean=[0.93] * 3,
        image_std=[0.15] * 3,
    )
    processor = Idefics3Processor(pictures, words, image_seq_len=(tile // 16) ** 2 // 4, chat_template=CHAT)
    config = Idefics3Config(
        text_config={
            "model_type": "llama",
            "hidden_size": 48,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "intermediate_size": 96,
            "vocab_size": len(words),
            "max_position_embeddings": 8192,
            "pad_token_id": words.pad_token_id,
        },
        vision_config={
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "intermediate_size": 64,
            "image_size": tile,
            "patch_size": 16,
            "initializer_range": 0.1,
        },
        scale_factor=2,
        image_token_id=processor.image_token_id,
        tie_word_embeddings=False,
    )
    torch.manual_seed(seed)
    model = Idefics3ForConditionalGeneration(config).eval()
    model.generation_config.eos_token_id = words.eos_token_id
    model.generation_config.pad_token_id = words.pad_token_id
    model.generation_config.bos_token_id = words.bos_token_id
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def idefics3_small(folder: Path) -> Path:
    """One tile and one token a picture: for long exams."""
    return idefics3(folder, tile=32, longest=32)


MAKERS: dict[str, Callable[[Path], Path]] = {"idefics3": idefics3, "idefics3_small": idefics3_small}
