"""A small script for the model `foreign`: what it says follows from what it is shown up to the question."""

import hashlib

KINDS = ["choice", "number", "text"]
FORMS = {"ecg": "signal"}


def load(options):
    return None


def identity(model):
    return {"edition": 1}


def answer(model, request):
    for question in request.questions:
        heard = repr([message["text"] for message in question.messages])
        number = int(hashlib.sha256(heard.encode()).hexdigest()[:6], 16)
        if question.kind == "choice":
            yield question.answer(choice=number % len(question.options))
        elif question.kind == "number":
            yield question.answer(number=float(number % 5))
        else:
            yield question.answer(text=str(number))
