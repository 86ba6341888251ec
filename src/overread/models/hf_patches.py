"""The first layer of a vision tower as a matrix product: the same numbers, in the layout that all later layers want.

Where a convolution's steps are as long as its kernel is wide, every patch is multiplied once. As a convolution it is
slow, and it leaves its result channel by channel; everything that is added to it afterwards keeps that layout, and each
layer of the tower copies all of it back. As a product, patch by patch, nothing is copied.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import torch


def as_products(model: Any) -> int:
    """Lets the model's patch embeddings run as products, at the weights that they have; how many there were."""
    found = [module for module in model.modules() if is_of_patches(module)]
    for module in found:
        module.forward = functools.partial(product, module)
    return len(found)


def is_of_patches(module: torch.nn.Module) -> bool:
    """Whether a layer cuts its input into patches that do not overlap, and nothing else hangs on how it is called."""
    return (
        isinstance(module, torch.nn.Conv2d | torch.nn.Conv3d)
        and tuple(module.stride) == tuple(module.kernel_size)
        and math.prod(module.kernel_size) > 1
        and (module.padding == "valid" or not any(module.padding))
        and set(module.dilation) == {1}
        and module.groups == 1
        and not hasattr(module, "_hf_hook")
        and not hasattr(module.weight, "device_mesh")
    )


def product(layer: torch.nn.Conv2d | torch.nn.Conv3d, pixels: torch.Tensor) -> torch.Tensor:
    """(N, channels, *size) -> (N, width, *patches), as the layer gives it; the width lies innermost in memory."""
    kernel = layer.kernel_size
    counts = [size // side for size, side in zip(pixels.shape[2:], kernel, strict=True)]
    for axis, (count, side) in enumerate(zip(counts, kernel, strict=True), start=2):
        pixels = pixels.narrow(axis, 0, count * side)  # what no whole patch fits into is left out
    sides = [part for pair in zip(counts, kernel, strict=True) for part in pair]
    axes = len(kernel)
    cut = pixels.reshape(len(pixels), layer.in_channels, *sides)
    order = [0, *(2 + 2 * axis for axis in range(axes)), 1, *(3 + 2 * axis for axis in range(axes))]
    rows = cut.permute(order).reshape(-1, layer.in_channels * math.prod(kernel))
    found = torch.nn.functional.linear(rows, layer.weight.flatten(1), layer.bias)
    return found.view(len(pixels), *counts, layer.out_channels).movedim(-1, 1)
