"""Neovim with a user interface that nobody sees, for what needs somebody at a screen: keys go in, and what it knows is
asked of it. It speaks Neovim's own protocol on its standard input and output, as graphical editors do.
"""

import json
import struct
import subprocess
import threading
import time


def pack(value):
    """A value as MessagePack."""
    if value is None or isinstance(value, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, int):
        return b"\xd3" + struct.pack(">q", value)
    if isinstance(value, str):
        data = value.encode()
        return b"\xdb" + struct.pack(">I", len(data)) + data
    if isinstance(value, dict):
        pairs = b"".join(pack(k) + pack(v) for k, v in value.items())
        return b"\xdf" + struct.pack(">I", len(value)) + pairs
    return b"\xdd" + struct.pack(">I", len(value)) + b"".join(map(pack, value))


class Unpacker:
    """Values out of a stream of MessagePack."""

    NUMBERS = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}

    def __init__(self, file):
        self.file = file

    def bytes(self, count):
        data = self.file.read(count)
        if len(data) < count:
            raise EOFError
        return data

    def number(self, form):
        return struct.unpack(form, self.bytes(struct.calcsize(form)))[0]

    def value(self):
        kind = self.bytes(1)[0]
        if kind < 0x80:
            return kind
        if kind >= 0xE0:
            return kind - 256
        if kind in self.NUMBERS:
            return self.number(self.NUMBERS[kind])
        if 0xC0 <= kind <= 0xC3:
            return {0xC0: None, 0xC2: False, 0xC3: True}[kind]
        if 0xD4 <= kind <= 0xD8:
            return self.bytes(1 + (1 << (kind - 0xD4)))
        if 0xC7 <= kind <= 0xC9:
            return self.bytes(1 + self.number((">B", ">H", ">I")[kind - 0xC7]))
        size = next((kind & mask for low, high, mask in ((0xA0, 0xBF, 31), (0x90, 0x9F, 15), (0x80, 0x8F, 15)) if low <= kind <= high), None)
        if size is None:
            size = self.number({0: ">B", 1: ">H", 2: ">I"}[{0xC4: 0, 0xC5: 1, 0xC6: 2, 0xD9: 0, 0xDA: 1, 0xDB: 2, 0xDC: 1, 0xDD: 2, 0xDE: 1, 0xDF: 2}[kind]])
        if 0xA0 <= kind <= 0xBF or kind in (0xC4, 0xC5, 0xC6, 0xD9, 0xDA, 0xDB):
            return self.bytes(size).decode(errors="replace")
        if 0x80 <= kind <= 0x8F or kind in (0xDE, 0xDF):
            return [(self.value(), self.value()) for _ in range(size)]
        return [self.value() for _ in range(size)]


class Screen:
    def __init__(self, nvim, init, cwd, env):
        words = [nvim, "--embed", "-n", "-i", "NONE", "-u", str(init)]
        self.nvim = subprocess.Popen(words, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.answers, self.serial = {}, 0
        threading.Thread(target=self.read, daemon=True).start()
        self.ask("nvim_ui_attach", 120, 40, {"rgb": True, "ext_linegrid": True})

    def read(self):
        unpacker = Unpacker(self.nvim.stdout)
        try:
            while True:
                message = unpacker.value()
                if message[0] == 1:
                    self.answers[message[1]] = message[3] if message[2] is None else None
        except (EOFError, ValueError):
            pass

    def ask(self, method, *arguments, within=10):
        """What a function of Neovim's says; None for an error, or for no answer."""
        self.serial += 1
        serial = self.serial
        self.nvim.stdin.write(pack([0, serial, method, list(arguments)]))
        self.nvim.stdin.flush()
        until = time.monotonic() + within
        while serial not in self.answers and time.monotonic() < until:
            time.sleep(0.01)
        return self.answers.pop(serial, None)

    def keys(self, keys):
        self.ask("nvim_input", keys)

    def lua(self, expression):
        """What a Lua expression is, or None where Neovim does not answer."""
        said = self.ask("nvim_exec_lua", f"return vim.json.encode({{ {expression} }})", [])
        values = json.loads(said) if isinstance(said, str) else None
        return values[0] if isinstance(values, list) and values else None

    def wait_for(self, expression, within):
        until = time.monotonic() + within
        while time.monotonic() < until:
            if value := self.lua(expression):
                return value
            time.sleep(0.1)
        return None

    def asked(self, within=60):
        """The permission that is asked for first."""
        return self.wait_for('require("superpower.ask.permission").queue()[1]', within)

    def shown(self):
        """What the window under the cursor shows."""
        return "\n".join(self.lua('vim.api.nvim_buf_get_lines(0, 0, -1, false)') or [])

    def answer(self, asked, *keys):
        """Answers it with these keys, as somebody would who has read it. Whether it is gone then."""
        for _ in range(8):
            time.sleep(1.5)
            for key in keys:
                self.keys(key)
                time.sleep(0.5)
            until = time.monotonic() + 2
            while time.monotonic() < until:
                now = self.lua('require("superpower.ask.permission").queue()[1] or false')
                if now is False or (now and now["id"] != asked["id"]):
                    return True
                time.sleep(0.1)
        return False

    def end(self):
        self.nvim.kill()
        self.nvim.wait()
