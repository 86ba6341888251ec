"""A small OpenAI-compatible server that can misbehave in every way: python chat_server.py PORT [--plan JSON]

The plan gives the share of calls that meet each fault, such as {"cut": 0.05, "429": 0.1}; which calls do is drawn from
a seed. GET /stats tells what was done so far. Only the standard library, so that it starts in a moment.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
from collections import Counter
from typing import Any

HANG_SECONDS = 30.0


class Server:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.delay: float = arguments.delay
        self.plan: dict[str, float] = json.loads(arguments.plan)
        self.key: str = arguments.key
        self.draw = random.Random(arguments.seed)
        self.done: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.at_once = self.most = 0
        self.last: dict[str, Any] = {}
        self.keys: set[str] = set()
        self.authorization = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                first, *lines = head.split("\r\n")
                headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines if line)}
                data = await reader.readexactly(int(headers.get("content-length", "0")))
                if not await self.respond(first, headers, data, writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def respond(self, first: str, headers: dict[str, str], data: bytes, writer: asyncio.StreamWriter) -> bool:
        """Answers one request; False: the connection is at its end."""
        if first.startswith("GET"):
            stats = {"done": self.done, "answered": self.answered, "most": self.most, "last": self.last}
            stats["keys"] = sorted(self.keys)
            self.send(writer, 200, stats if "/stats" in first else {"object": "list", "data": []})
            return True
        told = ("authorization", "openai-organization", "openai-project")
        self.authorization = headers.get("authorization", "")
        self.keys.update(headers[name] for name in told if name in headers)
        if self.key and headers.get("authorization") != f"Bearer {self.key}":
            said = headers.get("authorization", "nothing")
            self.send(writer, 401, {"error": {"message": f"Incorrect API key provided: {said}"}})
            return True
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        try:
            return await self.complete(json.loads(data), writer)
        finally:
            self.at_once -= 1

    async def complete(self, body: dict[str, Any], writer: asyncio.StreamWriter) -> bool:
        kind = self.fault()
        self.done[kind] += 1
        if kind == "hang":
            self.at_once -= 1  # whoever asked has long gone
            await asyncio.sleep(HANG_SECONDS)
            self.at_once += 1
        if self.delay:
            await asyncio.sleep(self.delay)
        if kind == "cut":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{")
            await writer.drain()
            return False
        if kind == "malformed":
            self.send(writer, 200, b'{"choices": [{"message": {"content": "Y')
        elif kind in ("429", "500", "503", "400"):
            self.send(writer, int(kind), {"error": {"message": f"fault {kind}"}}, "Retry-After: 0.05\r\n")
        else:
            self.last = {name: value for name, value in body.items() if name != "messages"}
            self.send(writer, 200, self.completion(body, kind))
        return True

    def fault(self) -> str:
        place = self.draw.random()
        for kind, share in self.plan.items():
            place -= share
            if place < 0:
                return kind
        return "ok"

    def completion(self, body: dict[str, Any], kind: str) -> dict[str, Any]:
        told = json.dumps(body["messages"], sort_keys=True)
        if kind == "ok":
            self.answered[hashlib.sha256(told.encode()).hexdigest()[:16]] += 1
        number = int(hashlib.sha256(told.encode()).hexdigest()[:8], 16)
        content = body["messages"][-1]["content"]
        asked = content if isinstance(content, str) else content[-1]["text"]
        text = reply(asked, body, number)
        message = {"role": "assistant", "content": "" if kind == "empty" else text}
        if kind == "echo":
            message["content"] = f"You asked with {self.authorization}"
        if kind == "refusal":
            message = {"role": "assistant", "content": None, "refusal": "I would rather not."}
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": "stop"}
        if body.get("logprobs"):
            letters = [line[0] for line in asked.splitlines() if line[1:4] == " = "]
            top = [{"token": letter, "logprob": -1.0 - n} for n, letter in enumerate(letters)]
            choice["logprobs"] = {"content": [{"token": "A", "logprob": -1.0, "top_logprobs": top}]}
        usage = {"prompt_tokens": 100 + told.count('"type": "image_url"') * 100, "completion_tokens": 5}
        return {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": "another" if kind == "wrong_model" else body["model"],
            "choices": [choice],
            "usage": None if kind == "uncounted" else usage,
        }

    def send(self, writer: asyncio.StreamWriter, status: int, document: Any, more: str = "") -> None:
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n{more}\r\n"
        writer.write(head.encode() + data)


def reply(asked: str, body: dict[str, Any], number: int) -> str:
    """Some answer that fits what is asked, and depends on all that was sent."""
    if "guided_choice" in body:
        return str(body["guided_choice"][number % len(body["guided_choice"])])
    if "response_format" in body:
        answer = body["response_format"]["json_schema"]["schema"]["properties"]["answer"]
        options = answer.get("enum") or answer.get("items", {}).get("enum")
        value: Any = options[number % len(options)] if options else number % 10
        return json.dumps({"answer": [value] if answer["type"] == "array" else value})
    if "TRUE" in asked and "FALSE" in asked:
        return f"{'TRUE' if number % 2 else 'FALSE'}: for a reason"
    options = [line[2:] for line in asked.splitlines() if line.startswith("- ")]
    return options[number % len(options)] if options else str(number % 100)


async def main(arguments: argparse.Namespace) -> None:
    server = await asyncio.start_server(
        Server(arguments).serve, "127.0.0.1", arguments.port, limit=1 << 26, backlog=4096
    )
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--plan", default="{}")
    parser.add_argument("--key", default="")
    parser.add_argument("--seed", type=int, default=0)
    asyncio.run(main(parser.parse_args()))
