#!/usr/bin/env python3
"""A model that is none: it answers real agent CLIs as its prompts tell it to, on loopback only.

  model.py [--port N] [--log FILE]        the first line on standard output is the address

It speaks the wire formats of Anthropic's messages and OpenAI's chat completions, streaming or not. What to answer
stands in the conversation, in the last message of the user, else in the system's text (so in an agent's file):

  <<say: TEXT>>          text
  <<use: TOOL {JSON}>>   a tool call, which ends the answer; what follows answers its result
  <<also: TOOL {JSON}>>  a tool call beside those that follow
  <<fail: STATUS N>>     an error, N times, for ever without N
  <<wait: SECONDS>>      silence before the first byte
  <<cut>>                the connection ends in the middle of the answer, each time
  <<full>>               the answer ends because it is too long
  <<next>>               the answer ends here; what follows answers the next request

After the last of them it says "Done.", and at once "Wrapped up." when it hears that its time is nearly up. A request without tools (a title, a summary) is answered "ok". The log gets
one JSON object a request: what was said by whom, which tools were offered, and what was answered.
"""

import argparse
import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DIRECTIVE = re.compile(r"<<(say|use|also|fail|wait|cut|full|next)\b:?\s*")
ERRORS = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
          413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"}
HURRY = "Your time is nearly up"
lock = threading.Lock()
serial = 0
failures = {}


def number():
    global serial
    with lock:
        serial += 1
        return serial


def script(text):
    """The answers that a text asks for, each a list of steps."""
    answers, answer, at = [], [], 0
    while (found := DIRECTIVE.search(text, at)):
        kind, at = found.group(1), found.end()
        if kind in ("use", "also"):
            name = re.compile(r"[\w-]+\s*").match(text, at)
            value, at = json.JSONDecoder().raw_decode(text, name.end())
            answer.append(("use", name.group().strip(), value))
            if kind == "use":
                answers.append(answer)
                answer = []
        else:
            end = text.find(">>", at)
            argument, at = text[at:end].strip(), end
            if kind == "next":
                answers.append(answer)
                answer = []
            else:
                answer.append((kind, argument))
    if answer:
        answers.append(answer)
    return answers


def text_of(content):
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content or [] if block.get("type") == "text")


def begins(message):
    """Whether a message of the user begins a turn: no tool's result, and no word of the tool's own to go on."""
    content = message.get("content")
    result = isinstance(content, list) and any(block.get("type") == "tool_result" for block in content)
    return message["role"] == "user" and not result and "Output token limit hit" not in text_of(content)


def conversation(body):
    """(system's text, last words of the user, the script in them or else in the system's, how many answers they had)"""
    messages = body.get("messages", [])
    system = text_of(body.get("system") or "")
    system += "\n".join(text_of(m.get("content")) for m in messages if m["role"] in ("system", "developer"))
    said = [m for m in messages if m["role"] not in ("system", "developer")]
    starts = [i for i, m in enumerate(said) if begins(m)]
    if not starts:
        return system, "", system, 0
    last = first = starts[-1]
    while first - 1 in starts:
        first -= 1
    # Messages without an answer between them: an attempt that failed may stand before this one.
    texts = [text_of(m.get("content")) for m in said[first:last + 1]]
    wanted = next((text for text in reversed(texts) if DIRECTIVE.search(text)), system)
    return system, "\n".join(texts), wanted, sum(m["role"] == "assistant" for m in said[last + 1:])


def answer_to(body):
    """The steps of this request's answer."""
    if not body.get("tools"):
        return [("say", "ok")]
    # A reminder of the tool's own may follow it.
    for message in reversed(body.get("messages") or []):
        if message["role"] == "assistant":
            break
        if HURRY in text_of(message.get("content")):
            return [("say", "Wrapped up.")]
    _, _, text, had = conversation(body)
    answers = script(text)
    steps = answers[had] if had < len(answers) else [("say", "Done.")]
    left = []
    for place, step in enumerate(steps):
        if step[0] == "fail":
            status, _, times = step[1].partition(" ")
            key = (json.dumps(answers), had, place)
            with lock:
                failures[key] = failures.get(key, 0) + 1
                if not times or failures[key] <= int(times):
                    return [("fail", int(status))]
        else:
            left.append(step)
    return left or [("say", "Done.")]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    log = None

    def log_message(self, *_):
        pass

    def reply(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.reply(200, {"data": []})

    do_HEAD = do_GET

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens"):
            return self.reply(200, {"input_tokens": len(json.dumps(body)) // 4})
        if path not in ("/v1/messages", "/v1/chat/completions"):
            return self.reply(404, {"error": {"message": "not here", "type": "not_found_error"}})
        steps = answer_to(body)
        system, words, _, had = conversation(body)
        if self.log:
            tools = [t.get("name") or t.get("function", {}).get("name") for t in body.get("tools", [])]
            entry = {"path": path, "model": body.get("model"), "system": system, "words": words, "had": had,
                     "last": "\n".join(text_of(m.get("content")) for m in body.get("messages", [])[-2:] if m["role"] != "assistant"),
                     "tools": tools, "steps": steps}
            with lock, open(self.log, "a") as file:
                file.write(json.dumps(entry) + "\n")
        for kind, *rest in steps:
            if kind == "wait":
                time.sleep(float(rest[0]))
            if kind == "fail":
                error = {"message": f"made-up {ERRORS.get(rest[0], 'error')}", "type": ERRORS.get(rest[0], "error")}
                return self.reply(rest[0], {"type": "error", "error": error})
        write = self.anthropic if path == "/v1/messages" else self.openai
        try:
            write(body, steps)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def begin(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, value, name=None):
        head = f"event: {name}\n" if name else ""
        self.wfile.write(f"{head}data: {value if isinstance(value, str) else json.dumps(value)}\n\n".encode())
        self.wfile.flush()

    def anthropic(self, body, steps):
        blocks, stop, cut = [], "end_turn", False
        for kind, *rest in steps:
            if kind == "say":
                blocks.append({"type": "text", "text": rest[0]})
            elif kind == "use":
                blocks.append({"type": "tool_use", "id": f"toolu_{number()}", "name": rest[0], "input": rest[1]})
                stop = "tool_use"
            elif kind == "full":
                blocks.append({"type": "text", "text": "x"})
                stop = "max_tokens"
            cut = cut or kind == "cut"
        usage = {"input_tokens": len(json.dumps(body)) // 4, "output_tokens": 1,
                 "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        message = {"id": f"msg_{number()}", "type": "message", "role": "assistant", "model": body.get("model"),
                   "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        out = sum(len(json.dumps(block)) // 4 for block in blocks)
        if not body.get("stream"):
            return self.reply(200, {**message, "content": blocks, "stop_reason": stop, "usage": {**usage, "output_tokens": out}})
        self.begin()
        self.event({"type": "message_start", "message": message}, "message_start")
        for index, block in enumerate(blocks):
            empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
            self.event({"type": "content_block_start", "index": index, "content_block": empty}, "content_block_start")
            if block["type"] == "text":
                pieces = [{"type": "text_delta", "text": piece} for piece in re.findall(r"\S+\s*|\s+", block["text"])]
            else:
                pieces = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
            for piece in pieces:
                self.event({"type": "content_block_delta", "index": index, "delta": piece}, "content_block_delta")
            if cut:
                return None
            self.event({"type": "content_block_stop", "index": index}, "content_block_stop")
        if cut:
            return None
        delta = {"stop_reason": stop, "stop_sequence": None}
        self.event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": out}}, "message_delta")
        self.event({"type": "message_stop"}, "message_stop")

    def openai(self, body, steps):
        stop, deltas, cut = "stop", [], False
        for kind, *rest in steps:
            if kind == "say":
                deltas += [{"content": piece} for piece in re.findall(r"\S+\s*|\s+", rest[0])]
            elif kind == "use":
                call = {"name": rest[0], "arguments": json.dumps(rest[1])}
                index = sum("tool_calls" in delta for delta in deltas)
                deltas.append({"tool_calls": [{"index": index, "id": f"call_{number()}", "type": "function", "function": call}]})
                stop = "tool_calls"
            elif kind == "full":
                stop = "length"
            cut = cut or kind == "cut"
        asked = len(json.dumps(body)) // 4
        usage = {"prompt_tokens": asked, "completion_tokens": len(deltas), "total_tokens": asked + len(deltas)}
        head = {"id": f"chatcmpl-{number()}", "created": int(time.time()), "model": body.get("model")}
        if not body.get("stream"):
            message = {"role": "assistant", "content": "".join(d.get("content", "") for d in deltas)}
            calls = [call for d in deltas for call in d.get("tool_calls", [])]
            message.update({"tool_calls": calls} if calls else {})
            choice = {"index": 0, "message": message, "finish_reason": stop}
            return self.reply(200, {**head, "object": "chat.completion", "choices": [choice], "usage": usage})
        self.begin()
        head["object"] = "chat.completion.chunk"
        for delta in [{"role": "assistant", "content": ""}, *deltas]:
            self.event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        if cut:
            return None
        self.event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}]})
        self.event({**head, "choices": [], "usage": usage})
        self.event("[DONE]")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log")
    options = parser.parse_args()
    Handler.log = options.log
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # agents that are killed drop their connections
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
