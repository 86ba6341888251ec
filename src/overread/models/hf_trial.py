"""A trial when a model is loaded: whether what it says of a shared prefix is what it says of each prompt by itself.

Architectures differ in ways that their settings do not tell (a head that scales, positions of their own, attention that
looks ahead inside pictures), so one dialogue is run both ways and the scores of the next token are compared.
"""

from __future__ import annotations

import numpy as np
import torch

from overread.media.contract import Delivered
from overread.models.contract import Message, Pending, Posed
from overread.models.hf_batches import Binder, Sheaf
from overread.models.hf_loading import Loaded
from overread.models.hf_shared import Pass, Portion
from overread.tables import Dialogue, Media, Question

OFF_MOST = {torch.float32: 1e-3, torch.float16: 2e-2, torch.bfloat16: 5e-2}
"""Length of the difference of both scores over the length of the scores, by precision: rounding stays far below."""


def fault(loaded: Loaded, binder: Binder) -> str:
    """Why the model cannot share a prefix; empty where it can."""
    try:
        (sheaf,) = binder.sheaves(dialogue(), options=False)
        off = apart(loaded, sheaf)
    except torch.OutOfMemoryError:
        raise
    except (RuntimeError, ValueError, TypeError, AttributeError, IndexError, KeyError) as error:
        return f"a trial of it failed: {type(error).__name__}: {str(error).strip().splitlines()[0]}"
    most = OFF_MOST.get(loaded.model.dtype, 5e-2)
    return "" if off <= most else f"in a trial its scores were {off:.2g} apart from those of prompts by themselves"


@torch.inference_mode()
def apart(loaded: Loaded, sheaf: Sheaf) -> float:
    """The largest relative difference of the scores of the next token, over the prompts of a sheaf."""
    going = Pass(loaded.model, [Portion((sheaf.tree,), typed(sheaf.inputs, loaded.model.dtype))], 0)
    shared = going.logits(going.last)[0].double()
    off = 0.0
    for place in range(len(sheaf.lines)):
        inputs = {n: v.to(going.device) for n, v in typed(sheaf.alone(place), loaded.model.dtype).items()}
        inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
        own = loaded.model(**inputs).logits[0, -1].double().to(going.device)
        off = max(off, float((shared[place] - own).norm() / own.norm()))
    return off


def typed(inputs: object, dtype: torch.dtype) -> dict[str, torch.Tensor]:
    """Tensors with the numbers of a model's precision."""
    return {n: v.to(dtype) if v.is_floating_point() else v for n, v in dict(inputs).items()}  # type: ignore[call-overload]


def dialogue() -> Posed:
    """One picture, three questions: one on the way, one that leaves the script, one at its end."""
    medium = Media("trial", "image", "trial://trial")
    squares = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    picture = Delivered("sheet", squares.repeat(28, axis=0).repeat(28, axis=1), (0,), (224, 224, 3), "trial", {})
    script = (
        Message("user", "What does the picture show?", (medium,)),
        Message("assistant", "Squares."),
        Message("user", "Which colour has the first one?"),
        Message("assistant", "Red."),
    )
    asked = (
        (0, script[0]),
        (2, Message("user", "How many are there? Answer with a number.")),
        (4, Message("user", "Is the last one darker?")),
    )
    pending = tuple(
        Pending(Question(f"q{n}", "trial", n, "trial", "trial", "text", one.text, one.text, "key", ""), upto, one, 0, 0)
        for n, (upto, one) in enumerate(asked)
    )
    about = Dialogue("trial", "trial", "single", "trial", "trial", "trial", "plain", "open", (medium,), ())
    return Posed(about, script, pending, lambda _: picture)
