from __future__ import annotations

from typing import Any

import pytest
import torch

from overread.models.hf_patches import as_products, is_of_patches

LAYERS = {
    "pictures": (torch.nn.Conv2d(3, 8, 4, 4), (2, 3, 16, 12)),
    "pictures with a rest": (torch.nn.Conv2d(3, 8, 4, 4), (2, 3, 18, 15)),
    "oblong": (torch.nn.Conv2d(3, 8, (2, 4), (2, 4), bias=False), (1, 3, 8, 8)),
    "frames": (torch.nn.Conv3d(3, 8, (2, 4, 4), (2, 4, 4)), (5, 3, 2, 4, 4)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_product_gives_what_the_layer_gives(name: str) -> None:
    layer, shape = LAYERS[name]
    pixels = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    wanted = layer(pixels)
    assert as_products(layer) == 1
    found = layer(pixels)
    assert found.shape == wanted.shape and torch.allclose(found, wanted, atol=1e-6)
    assert found.flatten(2).transpose(1, 2).is_contiguous(), "patch by patch: nothing behind it has to be copied"
    del layer.forward


@pytest.mark.parametrize(
    "layer",
    [
        torch.nn.Conv2d(3, 8, 4, 2),
        torch.nn.Conv2d(3, 8, 4, 4, padding=1),
        torch.nn.Conv2d(4, 8, 4, 4, groups=2),
        torch.nn.Conv2d(3, 8, 2, 2, dilation=2),
        torch.nn.Conv2d(3, 8, 1, 1),
        torch.nn.Linear(3, 8),
    ],
)
def test_other_layers_stay_as_they_are(layer: Any) -> None:
    assert not is_of_patches(layer) and as_products(layer) == 0 and "forward" not in vars(layer)


def test_a_loaded_model_keeps_its_weights(seated: Any, by_itself: Any) -> None:
    """The same names and numbers: what is saved or counted of it is what was loaded."""
    model = seated("idefics3", new_tokens="4")
    assert model.provenance()["patches_as_products"] == 1
    wanted = by_itself("idefics3").model.state_dict()
    assert all(torch.equal(value, wanted[name]) for name, value in model.loaded.model.state_dict().items())
    assert model.loaded.model.state_dict().keys() == wanted.keys()
