"""Tiny contrastive models with their true processors, built here and saved as hub folders; nothing is fetched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    CLIPConfig,
    CLIPModel,
    CLIPProcessor,
    PreTrainedTokenizerFast,
    SiglipConfig,
    SiglipModel,
    SiglipProcessor,
)
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil

WORDS = ["Yes No An ECG that shows sinus rhythm, bradycardia or tachycardia. left right neither first second half"] * 50
SPECIAL = ["<pad>", "<start>", "<end>"]
TEXT: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 40,
}
VISION: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "image_size": 64,
    "patch_size": 16,
}


def words() -> PreTrainedTokenizerFast:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        WORDS, trainers.BpeTrainer(vocab_size=500, special_tokens=SPECIAL, initial_alphabet=alphabet)
    )
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", bos_token="<start>", eos_token="<end>")


def clip(folder: Path, seed: int = 0, *, blind: bool = False) -> Path:
    """A CLIP in small with random weights; `blind`: its picture tower gives the same for everything."""
    text = words()
    ids = {"vocab_size": len(text), "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    pictures = CLIPImageProcessorPil(size={"shortest_edge": 64}, crop_size={"height": 64, "width": 64})
    torch.manual_seed(seed)
    model = CLIPModel(CLIPConfig(text_config={**TEXT, **ids}, vision_config=VISION, projection_dim=24)).eval()
    with torch.no_grad():
        for weight in model.vision_model.parameters():
            weight.mul_(4.0)  # as they are drawn, pictures hardly differ
        if blind:
            model.vision_model.embeddings.patch_embedding.weight.zero_()
    model.save_pretrained(folder)
    CLIPProcessor(pictures, text).save_pretrained(folder)
    return folder


def siglip(folder: Path, seed: int = 0) -> Path:
    """A SigLIP in small."""
    text = words()
    ids = {"vocab_size": len(text), "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    torch.manual_seed(seed)
    model = SiglipModel(SiglipConfig(text_config={**TEXT, **ids}, vision_config=VISION)).eval()
    model.save_pretrained(folder)
    SiglipProcessor(SiglipImageProcessorPil(size={"height": 64, "width": 64}), text).save_pretrained(folder)
    return folder
