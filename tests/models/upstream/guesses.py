"""Modality text, relative import of one level: never looks."""

import random

from . import BaseModel, register_model


@register_model("guesses")
class Guesses(BaseModel):
    ecg_modality_base = "text"

    def __init__(self):
        self.rng = random.Random(0)

    @classmethod
    def build_model(cls, **kwargs):
        return cls()

    def get_response(self, conversation, **kwargs):
        return self.rng.choice(conversation.conversation[-1]["options"])
