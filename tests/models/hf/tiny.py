"""Tiny vision-language models with their true processors, built here and saved as hub folders; nothing is fetched."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    AutoProcessor,
    Idefics3Config,
    Idefics3ForConditionalGeneration,
    Idefics3Processor,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
    ProcessorMixin,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
    Qwen3VLProcessor,
)
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

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
            "initializer_range": 0.1,
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
    return saved(Idefics3ForConditionalGeneration, config, processor, folder, seed)


QWEN = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
]
QWEN_CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{% for p in m['content'] %}{% if p['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% else %}{{ p['text'] }}{% endif %}{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


class QwenPictures(Qwen3VLProcessor):
    """Qwen's own processor without its videos, which need torchvision."""

    def __init__(self, image_processor: Any = None, tokenizer: Any = None, chat_template: Any = None) -> None:
        for name in ("image", "video", "vision_start", "vision_end"):
            token = f"<|{name}_pad|>" if name in ("image", "video") else f"<|{name}|>"
            setattr(self, f"{name}_token", token)
            setattr(self, f"{name}_token_id", tokenizer.convert_tokens_to_ids(token))
        ProcessorMixin.__init__(self, image_processor, tokenizer, chat_template=chat_template)


def qwen3_vl(folder: Path) -> Path:
    """A Qwen3-VL in small: positions in time, height and width, pictures that enter several layers."""
    AutoProcessor.register(Qwen3VLConfig, QwenPictures, exist_ok=True)
    words = tokenizer(QWEN, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    pictures = Qwen2VLImageProcessorPil(patch_size=8, merge_size=2, size={"shortest_edge": 256, "longest_edge": 4096})
    processor = QwenPictures(pictures, words, chat_template=QWEN_CHAT)
    config = Qwen3VLConfig(
        text_config={
            "hidden_size": 48,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 16,
            "intermediate_size": 96,
            "vocab_size": len(words),
            "max_position_embeddings": 8192,
            "rope_scaling": {"rope_type": "default", "mrope_section": [4, 2, 2], "mrope_interleaved": True},
            "initializer_range": 0.1,
        },
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 48,
            "num_heads": 2,
            "patch_size": 8,
            "out_hidden_size": 48,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            "deepstack_visual_indexes": [0],
            "num_position_embeddings": 64,
            "initializer_range": 0.1,
        },
        **{f"{name}_token_id": words.convert_tokens_to_ids(f"<|{name}_pad|>") for name in ("image", "video")},
        vision_start_token_id=words.convert_tokens_to_ids("<|vision_start|>"),
        vision_end_token_id=words.convert_tokens_to_ids("<|vision_end|>"),
        tie_word_embeddings=False,
    )
    return saved(Qwen3VLForConditionalGeneration, config, processor, folder)


LLAVA_CHAT = (
    "{% for m in messages %}{{ m['role'] | upper }}: "
    "{% for p in m['content'] %}{% if p['type'] == 'image' %}<image>\n{% else %}{{ p['text'] }}{% endif %}"
    "{% endfor %}{% if m['role'] == 'assistant' %}</s>{% else %} {% endif %}{% endfor %}"
    "{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)


def llava(folder: Path) -> Path:
    """A LLaVA in small: a CLIP tower, one picture a place, every picture cut to a square."""
    words = tokenizer(["<pad>", "<s>", "</s>", "<image>"], bos_token="<s>", eos_token="</s>", pad_token="<pad>")
    pictures = CLIPImageProcessorPil(size={"shortest_edge": 48}, crop_size={"height": 48, "width": 48})
    processor = LlavaProcessor(
        pictures,
        words,
        patch_size=16,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=LLAVA_CHAT,
    )
    config = LlavaConfig(
        vision_config={
            "model_type": "clip_vision_model",
            "hidden_size": 32,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "intermediate_size": 64,
            "image_size": 48,
            "patch_size": 16,
            "projection_dim": 32,
        },
        text_config={
            "model_type": "llama",
            "hidden_size": 48,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "num_key_value_heads": 4,
            "intermediate_size": 96,
            "vocab_size": len(words),
            "max_position_embeddings": 4096,
            "initializer_range": 0.1,
        },
        image_token_index=processor.image_token_id,
        vision_feature_select_strategy="default",
        tie_word_embeddings=False,
    )
    return saved(LlavaForConditionalGeneration, config, processor, folder)


def sliding(folder: Path) -> Path:
    """A LLaVA whose text part slides over its tokens: its questions cannot share a prefix."""
    model = LlavaForConditionalGeneration.from_pretrained(llava(folder))
    text = {**model.config.text_config.to_dict(), "model_type": "mistral", "sliding_window": 16}
    config = LlavaConfig(**{**model.config.to_dict(), "text_config": text})
    return saved(LlavaForConditionalGeneration, config, AutoProcessor.from_pretrained(folder), folder)


def saved(kind: Any, config: Any, processor: Any, folder: Path, seed: int = 0) -> Path:
    """A model at random weights with its processor, as a hub folder."""
    torch.manual_seed(seed)
    model = kind(config).eval()
    words = processor.tokenizer
    model.generation_config.eos_token_id = words.eos_token_id
    model.generation_config.pad_token_id = words.pad_token_id
    model.generation_config.bos_token_id = words.bos_token_id
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def idefics3_small(folder: Path) -> Path:
    """One tile and one token a picture: for long exams."""
    return idefics3(folder, tile=32, longest=32)


MAKERS: dict[str, Callable[[Path], Path]] = {
    "idefics3": idefics3,
    "idefics3_small": idefics3_small,
    "qwen3_vl": qwen3_vl,
    "llava": llava,
    "sliding": sliding,
}
