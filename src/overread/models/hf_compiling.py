"""Compiles every layer of a model by itself: its many small operations between the products become few."""

from __future__ import annotations

from typing import Any

import torch

from overread.models.hf_room import Room

LAYERS = ("DecoderLayer", "EncoderLayer", "VisionBlock")
"""How the classes of layers end in transformers; each is compiled once, however many layers there are of it."""


def compile_layers(model: Any) -> int:
    """Lets torch compile the layers when they are first used; how many there are.

    The keys and values (`hf_room.py`) stay outside: what they do depends on where they stand, and is not worth it.
    """
    torch._dynamo.config.allow_unspec_int_on_nn_module = True  # the number of a layer must not make it another one
    Room.update = torch.compiler.disable(Room.update)
    layers = [module for module in model.modules() if type(module).__name__.endswith(LAYERS)]
    for layer in layers:
        layer.forward = torch.compile(layer.forward, dynamic=True)
    return len(layers)
