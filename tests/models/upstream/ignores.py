"""Claims the image and never takes it out; the others of this file misbehave in other ways."""

from ecg_reasoning_benchmark.models import BaseModel, register_model
from ecg_reasoning_benchmark.utils import Conversation, base64_image_encoder  # noqa: F401


class Plain(BaseModel):
    @classmethod
    def build_model(cls, **kwargs):
        return cls()


@register_model("ignores")
class Ignores(Plain):
    def get_response(self, conversation, **kwargs):
        assert "image" in conversation.conversation[1]
        return conversation.conversation[-1]["options"][0]


@register_model("raises")
class Raises(Plain):
    def get_response(self, conversation, **kwargs):
        raise RuntimeError("out of memory")


@register_model("silent")
class Silent(Plain):
    def get_response(self, conversation, **kwargs):
        return None


@register_model("reads_record")
class ReadsRecord(Plain):
    ecg_modality_base = "text"

    def get_response(self, conversation, ecg_path=None, **kwargs):
        return ecg_path
