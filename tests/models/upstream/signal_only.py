"""Relative imports of a package's depth, and a file beside it; takes the signal."""

from .. import BaseModel, register_model
from .beside import size


@register_model("signal")
class SignalModel(BaseModel):
    ecg_modality_base = "signal"

    @classmethod
    def build_model(cls, **kwargs):
        return cls()

    def get_response(self, conversation, enable_condensed_chat=False, verbose=False, **kwargs):
        turns = conversation.get_turns_for_prompt()
        signal = next(turn["signal"] for turn in turns if "signal" in turn)
        return turns[-1]["options"][size(signal) % len(turns[-1]["options"])]
