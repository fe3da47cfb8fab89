"""Neovim in a terminal of its own, for what needs somebody at a screen: keys go in, and what it knows is asked of it."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
import threading
import time


class Screen:
    def __init__(self, nvim, init, cwd, env):
        self.nvim, self.socket = nvim, str(cwd.parent / "nvim.sock")
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            words = [nvim, "-n", "-i", "NONE", "-u", str(init), "--listen", self.socket]
            os.execve(nvim, words, {**env, "TERM": "xterm-256color"})
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        threading.Thread(target=self.drain, daemon=True).start()
        self.wait_for("1", 20)

    def drain(self):
        try:
            while os.read(self.terminal, 65536):
                pass
        except OSError:
            pass

    def keys(self, keys):
        os.write(self.terminal, keys.encode())

    def lua(self, expression):
        """What a Lua expression is, or None where Neovim does not answer."""
        words = [self.nvim, "--server", self.socket, "--remote-expr", f"luaeval('vim.json.encode({{ {expression} }})')"]
        try:
            said = subprocess.run(words, capture_output=True, text=True, timeout=10)
            values = json.loads(said.stdout)
            return values[0] if isinstance(values, list) and values else None
        except (ValueError, subprocess.TimeoutExpired):
            return None

    def wait_for(self, expression, within):
        until = time.monotonic() + within
        while time.monotonic() < until:
            if value := self.lua(expression):
                return value
            time.sleep(0.1)
        return None

    def asked(self, within=60):
        """The permission that is asked for first."""
        return self.wait_for('require("superpower.permission").queue()[1]', within)

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
                now = self.lua('require("superpower.permission").queue()[1] or false')
                if now is False or (now and now["id"] != asked["id"]):
                    return True
                time.sleep(0.1)
        return False

    def end(self):
        try:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)
        except OSError:
            pass
        os.close(self.terminal)
