from __future__ import annotations

import base64
import io
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from overread.media.contract import Delivered
from overread.media.deliver import digest
from overread.models.chat_options import Options, read_options
from overread.models.chat_pictures import Album, Sent, sent
from overread.models.chat_prompts import body_of, seed_of
from overread.models.contract import Message, Pending
from overread.tables import Media, Question

CLIP = Media("clip", "clip", "x://clip", (3, 5, 9))
TIMES_MS = (0.0, 20.0, 60.0)


def frames(count: int = 3, height: int = 15, width: int = 20) -> Delivered:
    """Frames that are told apart by their grey."""
    data = np.stack([np.full((height, width, 3), 40 * (n + 1), dtype=np.uint8) for n in range(count)])
    return Delivered("frames", data, tuple(range(count)), data.shape, digest(data), {"times_ms": TIMES_MS[:count]})


def uris(made: Sent) -> list[str]:
    return [next(iter(part[part["type"]].values())) for part in made.parts]


def bytes_of(uri: str) -> bytes:
    return base64.b64decode(uri.partition("base64,")[2])


def pending(**about: Any) -> Pending:
    values: dict[str, Any] = {"kind": "choice", "options": ("Yes", "No"), **about}
    question = Question("q", "d", 0, "i", "t", asked="Which?", shown="Which?", shows="key", prompt="p", **values)
    return Pending(question, 0, Message("user", "Which?"), 7, 0)


def body(asked: Pending, *messages: Message, **options: str) -> dict[str, Any]:
    whole = (*messages, asked.asked)
    return body_of(whole, {}, asked, read_options({"model": "m", "url": "http://127.0.0.1/v1", **options}, ""))


def test_each_frame_is_a_picture_of_its_own_and_the_receipt_holds_the_bytes() -> None:
    made = sent(CLIP, frames(), frames="images", detail="low")
    assert [part["image_url"]["detail"] for part in made.parts] == ["low"] * 3
    shown = [np.asarray(Image.open(io.BytesIO(bytes_of(uri)))) for uri in uris(made)]
    assert np.array_equal(np.stack(shown), frames().data)
    assert (made.seen.level, made.seen.indices, made.seen.shape, made.pictures) == (
        "sent",
        (0, 1, 2),
        (3, 15, 20, 3),
        3,
    )
    other = frames()
    other = Delivered(other.form, other.data[::-1].copy(), other.indices, other.shape, "", other.facts)
    assert sent(CLIP, other, frames="images", detail="low").seen.hash != made.seen.hash


def test_a_picture_file_is_sent_as_it_is() -> None:
    packed = io.BytesIO()
    Image.new("RGB", (4, 4), "red").save(packed, "JPEG")
    data = packed.getvalue()
    made = sent(CLIP, Delivered("image", data, (), (4, 4), digest(data), {}), frames="video", detail="")
    assert uris(made)[0].startswith("data:image/jpeg;") and bytes_of(uris(made)[0]) == data
    assert made.seen.hash == digest(data)


def test_frames_as_jpegs_of_one_video_keep_their_number_and_order() -> None:
    made = sent(CLIP, frames(), frames="jpegs", detail="")
    (uri,) = uris(made)
    assert made.parts[0]["type"] == "video_url" and uri.startswith("data:video/jpeg;base64,")
    shown = [Image.open(io.BytesIO(base64.b64decode(one))) for one in uri.partition("base64,")[2].split(",")]
    assert [round(float(np.asarray(picture).mean()) / 40) for picture in shown] == [1, 2, 3]


def test_a_film_has_every_frame_at_its_time() -> None:
    made = sent(CLIP, frames(), frames="video", detail="")
    with av.open(io.BytesIO(bytes_of(uris(made)[0]))) as film:
        found = [(round(float(f.time) * 1000), f.to_ndarray(format="rgb24")) for f in film.decode(video=0)]
    assert [time for time, _ in found] == list(TIMES_MS)
    assert all(abs(float(picture.mean()) - 40 * (n + 1)) < 6 for n, (_, picture) in enumerate(found))
    assert found[0][1].shape == (16, 20, 3), "edges of an odd number of pixels are made even"


def test_an_album_forgets_what_has_not_been_wanted_for_longest() -> None:
    album = Album(2)
    for name in "ab":
        album.put(name, name.upper())
    assert album.get("a") == "A"
    album.put("c", "C")
    assert [album.get(name) for name in "abc"] == ["A", None, "C"]


def test_media_stand_before_the_text_and_the_system_message_where_it_is_wanted() -> None:
    asked = pending()
    made = sent(CLIP, frames(1), frames="images", detail="")
    script = (Message("system", "Be brief."), Message("user", "Look.", (CLIP,)), Message("assistant", "Well."))
    options = {name: Options(model="m", system=name) for name in ("keep", "user", "drop")}
    turns = {name: body_of((*script, asked.asked), {CLIP: made}, asked, o)["messages"] for name, o in options.items()}
    assert [turn["role"] for turn in turns["keep"]] == ["system", "user", "assistant", "user"]
    assert turns["keep"][1]["content"] == [*made.parts, {"type": "text", "text": "Look."}]
    assert turns["user"][0]["content"][-1]["text"] == "Be brief.\n\nLook."
    assert turns["drop"][0]["content"][-1]["text"] == "Look." and turns["drop"][-1]["content"] == "Which?"


def test_sampling_and_limits_are_sent_as_the_server_calls_them() -> None:
    plain = body(pending())
    assert {name: plain[name] for name in ("model", "temperature", "max_tokens", "seed")} == {
        "model": "m", "temperature": 0.0, "max_tokens": 1024, "seed": 7,
    }  # fmt: skip
    bare = body(pending(), temperature="none", seeds="keep", new_tokens_as="max_completion_tokens", reasoning="low")
    assert "temperature" not in bare and "seed" not in bare and "max_tokens" not in bare
    assert (bare["max_completion_tokens"], bare["reasoning_effort"]) == (1024, "low")
    assert body(pending(), extra='{"top_k": 3}')["top_k"] == 3


def test_every_sample_has_a_seed_of_its_own() -> None:
    asked = pending()
    seeds = {seed_of(Pending(asked.question, 0, asked.asked, seed, n)) for seed in (7, 8) for n in range(3)}
    assert len(seeds) == 6 and {7, 8} < seeds and max(seeds) < 2**31


@pytest.mark.parametrize("way", ["guided_choice", "structured_outputs"])
def test_vllm_is_held_to_one_of_the_options_and_to_nothing_else(way: str) -> None:
    assert body(pending(), constrain=way)[way] in (["Yes", "No"], {"choice": ["Yes", "No"]})
    for other in (pending(many=True), pending(kind="number", options=()), pending(kind="text", options=())):
        assert way not in body(other, constrain=way)


def test_a_schema_says_what_an_answer_may_be() -> None:
    def schema(**about: Any) -> Any:
        held = body(pending(**about), constrain="json_schema")
        return held["response_format"]["json_schema"]["schema"]["properties"]["answer"]

    assert schema() == {"type": "string", "enum": ["Yes", "No"]}
    assert schema(many=True) == {"type": "array", "items": {"type": "string", "enum": ["Yes", "No"]}}
    assert schema(kind="number", options=()) == {"type": "number"}
    assert "response_format" not in body(pending(kind="text", options=()), constrain="json_schema")


def test_for_probabilities_the_letters_of_the_options_are_asked_for() -> None:
    held = body(pending(), mode="score")
    assert held["logprobs"] is True and held["top_logprobs"] == 20
    assert held["messages"][-1]["content"].splitlines()[-2:] == ["A = Yes", "B = No"]
    assert "logprobs" not in body(pending(many=True), mode="score"), "several options have no one letter"
