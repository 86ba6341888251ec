"""Absolute imports; takes the picture as base64 text and answers by its bytes."""

import base64

from ecg_reasoning_benchmark import BaseModel, register_model


@register_model("looks")
class Looks(BaseModel):
    def __init__(self, model_variant="small", shout=False):
        self.model_variant = model_variant
        self.shout = shout

    @classmethod
    def build_model(cls, model_variant="small", shout=None, **kwargs):
        assert kwargs["root"] == "data" and kwargs["inference_mode"] == "default"
        return cls(model_variant=model_variant, shout=shout == "yes")

    def require_base64_image(self):
        return True

    def get_response(self, conversation, enable_condensed_chat=False, verbose=False, **kwargs):
        assert conversation.conversation[0]["role"] == "system"
        turns = conversation.get_turns_for_prompt()
        data = b""
        for turn in turns:
            if turn["role"] == "user" and "image" in turn:
                data = base64.b64decode(turn["image"])
        options = turns[-1]["options"] or ["something"]
        said = options[sum(data) % len(options)]
        return said.upper() if self.shout else said
