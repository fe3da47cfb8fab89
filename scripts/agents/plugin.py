#!/usr/bin/env python3
"""Plays real declarations through the plugin in Neovim with real agents, offline (scripts/test-agents runs it).

The agents' files tell the model that is none what to answer; what it really was told is read from its log. Each
scenario is a project of its own. Prints a line a check, and at the end "N passed, N failed".
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from screen import Screen

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = pathlib.Path(os.environ["SUPERPOWER_AGENTS"])
MODEL = os.environ["SUPERPOWER_MODEL"]
REQUESTS = pathlib.Path(os.environ["SUPERPOWER_REQUESTS"])
NVIM = os.environ.get("NVIM_PROGRAM") or subprocess.check_output([str(ROOT / "scripts/nvim-path.sh")], text=True).strip()
FEATURE = 'epic=user-auth feature_slug=reset-password problem_statement="People cannot get back in"'
BUG = 'issue_number=7 description="The total of a cart is wrong"'
PASS = '{"verdict": "PASS"}'
STORY = "---\nepic: user-auth\nstory_slug: reset\nui: true\n---\n# RESET-1: a new password\n"
WORK = {
    "spec-kit": {"docs/specs/reset-password/TASKS.md": "# Tasks\n", "docs/stories/user-auth/reset-1/Story.md": STORY},
    "ux-researcher": {"docs/design/research/reset-password/people.md": "# People\n"},
    "wireframe-architect": {"docs/design/wireframes/reset-password.md": "# Wireframe\n"},
    "visual-identity-designer": {"docs/design/identity/tokens.json": "{}\n"},
    "design-system-author": {"public/tokens.css": ":root {}\n"},
    "ui-mockup-builder": {"docs/design/mockups/reset-password.html": "<p>\n"},
    "orchestrator": {"src/fix.js": "// fixed\n"},
    "qa": {"test/issue-7.test.js": "// fails\n"},
    "a11y-auditor": {},
    "component-scaffold": {"public/components/reset-password/reset-password.js": "// element\n"},
    "story-issue-sync": {},
}
passed, failed = [], []


def check(what, good, detail=""):
    (passed if good else failed).append(what)
    print(f"{'ok  ' if good else 'FAIL'} {what}" + ("" if good else f"\n     {detail}"), flush=True)


class Project:
    """A copy of the shop, whose agents do their work as the model tells them."""

    def __init__(self, harness, name, extra=None, settings="", rules=None):
        self.harness, self.name = harness, f"{harness}: {name}"
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="superpower-agents."))
        self.shop = self.place / "shop"
        shutil.copytree(ROOT / "examples/shop", self.shop, ignore=shutil.ignore_patterns("state", "logs"))
        for kind, file in (("agents", "{}.md"), ("skills", "{}/SKILL.md")):
            for actor in WORK:
                path = self.shop / ".claude" / kind / file.format(actor)
                if path.exists():
                    path.write_text(path.read_text() + f"\nMARK-{actor}\n" + self.script(actor, (extra or {}).get(actor, "")))
        subprocess.run("git init -q && git add -A && git -c user.name=x -c user.email=x@y commit -qm x", shell=True,
                       cwd=self.shop, check=True)
        home = self.place / "home"
        home.mkdir()
        self.write_opencode(home, rules)
        init = f"""
vim.opt.runtimepath = {{ {json.dumps(str(ROOT))}, vim.env.VIMRUNTIME }}
vim.o.swapfile = false
vim.g.superpower = {{ harness = "{harness}", trust = "always", timeout = "5m", idle = "2m",
  harnesses = {{ {harness} = {{ cmd = {{ {json.dumps(str(TOOLS / harness))} }} }} }}, {settings} }}
"""
        (self.place / "init.lua").write_text(init)
        drop = ("XDG_", "NVIM", "SUPERPOWER_", "CLAUDE")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(drop)}
        self.env |= {"HOME": str(home), "ANTHROPIC_BASE_URL": MODEL, "ANTHROPIC_API_KEY": "a-made-up-key",
                     "CLAUDE_CODE_MAX_RETRIES": "2", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                     "DISABLE_AUTOUPDATER": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
                     "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_CONFIG": str(home / "opencode.json")}
        self.began = REQUESTS.stat().st_size if REQUESTS.exists() else 0

    def write_opencode(self, home, rules):
        models = {"m": {"cost": {"input": 1, "output": 2}}, "s": {}}
        provider = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": f"{MODEL}/v1", "apiKey": "x"}, "models": models}
        config = {"model": "fake/m", "small_model": "fake/s", "enabled_providers": ["fake"], "provider": {"fake": provider}}
        config.update({"permission": {"bash": "allow"} if rules is None else rules})
        (home / "opencode.json").write_text(json.dumps(config))

    def script(self, actor, first):
        """What the model answers this actor: reads and writes its files, runs a command, reports."""
        claude = self.harness == "claude"
        key, write, read, bash = ("file_path", "Write", "Read", "Bash") if claude else ("filePath", "write", "read", "bash")
        steps = [first] if first else []
        for path, text in WORK[actor].items():
            full = str(self.shop / path)
            steps.append(f"<<use: {read} {json.dumps({key: full})}>>")
            steps.append(f"<<use: {write} {json.dumps({key: full, 'content': text})}>>")
        run = {"command": f"mkdir -p made && touch made/{actor}", "description": "Leave a trace"}
        steps.append(f"<<use: {bash} {json.dumps(run)}>>")
        steps.append(f"<<say: {actor} is done. {PASS}>>")
        return "\n".join(steps) + "\n"

    def start(self, *verbs, **options):
        words = [word for verb in verbs for word in ("-c", verb)]
        return subprocess.Popen([NVIM, "--headless", "-n", "-i", "NONE", "-u", str(self.place / "init.lua"), *words], cwd=self.shop, env=self.env,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)

    def verb(self, verb, within=300):
        """A headless verb: its exit status, and all that it said."""
        nvim = self.start(f"Superpower! {verb}")
        try:
            said, _ = nvim.communicate(timeout=within)
        except subprocess.TimeoutExpired:
            nvim.kill()
            return -1, f"took longer than {within}s"
        return nvim.returncode, said

    def heard(self):
        """What the model was told since the project was made."""
        with open(REQUESTS) as file:
            file.seek(self.began)
            return [f"{entry['system']}\n{entry['words']}\n{entry['last']}" for entry in map(json.loads, file)]

    def told(self, *words):
        return any(all(word in text for word in words) for text in self.heard())

    def survivors(self):
        mark = f"{self.place}/"
        left = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                environ = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
                if b"SUPERPOWER_RUN_ID=" in environ and mark.encode() in environ:
                    left.append(pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()[:80])
            except OSError:
                pass
        return left

    def wait_for(self, word, within=60):
        """Waits until the project's log has the word."""
        log, until = self.shop / ".claude/logs/superpower.log", time.monotonic() + within
        while time.monotonic() < until:
            if log.exists() and word in log.read_text():
                return True
            time.sleep(0.05)
        return False

    def gone(self, within=2):
        """How long until nothing of it is left, and what is left after that."""
        began = time.monotonic()
        while (left := self.survivors()) and time.monotonic() < began + within + 3:
            time.sleep(0.05)
        return time.monotonic() - began, left

    def asker(self, script):
        """A superpower of one stage, whose agent does this."""
        agent = "---\nname: asker\ndescription: asks\n---\nYou ask.\n" + "\n".join(script) + "\n"
        (self.shop / ".claude/agents/asker.md").write_text(agent)
        (self.shop / ".claude/superpowers/ask.yaml").write_text(
            'name: ask\ndescription: asks\nversion: "1.0.0"\nstages:\n  - agent: asker\n    description: Ask\n')

    def screen(self):
        return Screen(NVIM, self.place / "init.lua", self.shop, self.env)

    def done(self):
        left = self.survivors()
        check(f"{self.name}: nothing is left", not left, left)
        shutil.rmtree(self.place, ignore_errors=True)


def new_ui_feature(harness):
    project = Project(harness, "new-ui-feature")
    status, said = project.verb(f"run new-ui-feature {FEATURE}")
    gates = 0
    while status == 3 and gates < 9:
        gates += 1
        status, more = project.verb("approve")
        said += more
    check(f"{project.name} completes through 4 gates", (status, gates) == (0, 4), f"status {status}, {gates} gates\n{said}")
    for actor in [a for a in WORK if a not in ("qa", "story-issue-sync")]:
        check(f"{project.name}: the model had {actor}'s text", project.told(f"MARK-{actor}"))
        check(f"{project.name}: {actor} worked", (project.shop / "made" / actor).exists())
    project.done()


def bugfix(harness):
    wait = "<<say: I begin.>>\n" + bash(harness, "tail -f package.json")
    project = Project(harness, "bugfix", {"orchestrator": wait})
    status, said = project.verb(f"run bugfix {BUG}")
    check(f"{project.name} stops at its gate", status == 3, said)
    status, said = project.verb("changes name the test after the sum")
    check(f"{project.name}: changes come back to the gate", status == 3, said)
    check(f"{project.name}: the comment reached the model", project.told("name the test after the sum"))
    nvim = project.start("Superpower! approve")
    check(f"{project.name}: the fix begins", project.wait_for("STAGE 3/5"))
    until = time.monotonic() + 60
    while not any("tail -f" in line for line in project.survivors()) and time.monotonic() < until:
        time.sleep(0.1)
    check(f"{project.name}: a shell of it runs", time.monotonic() < until)
    nvim.send_signal(signal.SIGKILL)
    nvim.communicate()
    took, left = project.gone()
    check(f"{project.name}: a killed editor leaves nothing after 2 s", took < 2, f"{took:.1f}s {left}")
    for path in (project.shop / ".claude/agents").glob("orchestrator.md"):
        path.write_text(path.read_text().replace(wait, ""))
    status, said = project.verb("resume")
    check(f"{project.name} goes on after the kill and completes", status == 0, f"status {status}\n{said}")
    check(f"{project.name}: the model had the skill's text", project.told("MARK-story-issue-sync"))
    project.done()


def design_refresh(harness):
    faults = {"visual-identity-designer": "<<fail: 529 2>>", "design-system-author": "<<fail: 401 1>>"}
    project = Project(harness, "design-refresh", faults)
    status, said = project.verb("run design-refresh")
    check(f"{project.name}: two overloads are outlived", status == 3, f"status {status}\n{said}")
    status, said = project.verb("approve")
    check(f"{project.name}: a refused login pauses at once", status == 1 and "PAUSED (auth)" in said, f"status {status}\n{said}")
    status, said = project.verb("resume")
    check(f"{project.name}: and goes on from there to the next gate", status == 3, f"status {status}\n{said}")
    status, said = project.verb("approve")
    check(f"{project.name} completes", status == 0, f"status {status}\n{said}")
    project.done()


def troubles(harness):
    hang = Project(harness, "a model that hangs", {"qa": "<<wait: 600>>"}, 'idle = "8s"')
    status, said = hang.verb(f"run bugfix {BUG}", 200)
    check(f"{hang.name} fails after three attempts", status == 1 and said.count("silent for 8s") >= 3, f"status {status}\n{said}")
    hang.done()
    limit = Project(harness, "a rate limit", {"qa": "<<fail: 429>>"})
    nvim = limit.start(f"Superpower! run bugfix {BUG}")
    check(f"{limit.name} waits, and says until when", limit.wait_for("LIMITED  stage 1/5: until", 150))
    nvim.kill()
    said, _ = nvim.communicate()
    limit.done()
    cut = Project(harness, "a stream that is cut", {"qa": "<<say: half>>\n<<cut>>\n<<next>>" * 6 if harness == "opencode" else "<<cut>>"})
    nvim = cut.start(f"Superpower! run bugfix {BUG}")
    word = "RETRY" if harness == "opencode" else "GATE"
    check(f"{cut.name} is tried again" if word == "RETRY" else f"{cut.name} is outlived", cut.wait_for(word, 120))
    nvim.kill()
    nvim.communicate()
    time.sleep(2)
    cut.done()
    tool = ('Bash {"command":"python3 -c pass","description":"p"}' if harness == "claude"
            else 'write {"filePath":"/etc/superpower-test","content":"x"}')
    deny = Project(harness, "a permission that nobody gives")
    deny.asker([f"<<use: {tool}>>", "<<say: asked.>>"])
    status, said = deny.verb("run ask")
    check(f"{deny.name} needs a human", status == 1 and "PAUSED (needs-human)" in said, f"status {status}\n{said}")
    deny.done()
    if harness == "opencode":
        unsaid = Project(harness, "a command that no rule speaks of", rules={})
        unsaid.asker([bash(harness, "touch made-by-nobody"), "<<say: asked.>>"])
        status, said = unsaid.verb("run ask")
        check(f"{unsaid.name} is not run where nobody is there", status == 1 and "bash touch made-by-nobody" in said
              and not (unsaid.shop / "made-by-nobody").exists(), f"status {status}\n{said}")
        unsaid.done()


def bash(harness, command):
    name = "Bash" if harness == "claude" else "bash"
    return f"<<use: {name} {json.dumps({'command': command, 'description': 'Do it'})}>>"


def permissions(harness):
    touch = lambda name: bash(harness, f"python3 -c \"open('{name}', 'w')\"")  # noqa: E731
    project = Project(harness, "permissions", rules={"bash": "ask", "edit": "ask"})
    script = [touch("one"), touch("two"), touch("three"), touch("four"), "<<say: asked enough.>>"]
    if harness == "opencode":
        path = str(project.shop / "written.txt")
        script.insert(0, f"<<use: write {json.dumps({'filePath': path, 'content': 'a line of it'})}>>")
    project.asker(script)
    screen = project.screen()
    screen.keys(":Superpower run ask<CR>")
    if harness == "opencode":
        asked = screen.asked()
        check(f"{project.name}: an edit is asked for", asked and asked["title"] == "edit written.txt", asked)
        time.sleep(2)
        check(f"{project.name}: with its diff", "+a line of it" in screen.shown(), screen.shown())
        check(f"{project.name}: allowed once", screen.answer(asked, "o"))
    for name, keys in (("one", ["o"]), ("two", ["D", "inot this one", "<Esc>", ":w<CR>"]), ("three", ["r"])):
        asked = screen.asked()
        check(f"{project.name}: {name} is asked for", asked and f"open('{name}'" in json.dumps(asked), asked)
        check(f"{project.name}: {name} is answered", asked and screen.answer(asked, *keys))
    state = screen.wait_for('(require("superpower.runs").get() or {}).state == "complete"', 60)
    check(f"{project.name}: it completes", state, screen.lua('require("superpower.runs").get()'))
    there = [name for name in ("one", "two", "three", "four") if (project.shop / name).exists()]
    check(f"{project.name}: what was allowed is done, and nothing else", there == ["one", "three", "four"], there)
    project.asker([bash(harness, "python3 -c 'import time; time.sleep(300)'"), "<<say: slept.>>"])
    screen.keys(":Superpower run ask<CR>")
    if asked := screen.asked():  # another run asks again
        screen.answer(asked, "o")
    running = screen.wait_for('(((require("superpower.runs").get() or {}).live or {}).tool or ""):find("python3") and true', 60)
    time.sleep(1)
    shell = [line for line in project.survivors() if "sleep(300)" in line]
    check(f"{project.name}: a shell runs", running and shell, project.survivors())
    screen.keys(":Superpower cancel<CR>")
    screen.wait_for('(require("superpower.runs").get() or {}).state == "cancelled"', 10)
    took, left = project.gone()
    check(f"{project.name}: a cancel leaves no shell", not left, f"{took:.1f}s {left}")
    screen.end()
    project.done()


def retries(harness):
    project = Project(harness, "retries")
    # The model counts by what it is told: with the same words the other agent's two would have been the last.
    project.asker(["<<fail: 529 2>>", f"<<say: {harness} got through.>>"])
    screen = project.screen()
    # Every picture is looked at: how long one is shown depends on the machine.
    screen.ask("nvim_exec_lua", """require("superpower.events").tap("waits", function(event)
      local live = event.type == "snapshot" and event.run.live
      if type(live) == "table" and live.waiting and live.waiting ~= vim.NIL then _G.waits = live.waiting end
    end)""", [])
    screen.keys(":Superpower run ask<CR>")
    state = screen.wait_for('(require("superpower.runs").get() or {}).state == "complete"', 150)
    waits = screen.lua("_G.waits")
    check(f"{project.name} are shown while it waits", waits and "retry 2" in str(waits), waits)
    check(f"{project.name} are outlived", state, screen.lua('require("superpower.runs").get()'))
    screen.end()
    project.done()


def limits(harness):
    project = Project(harness, "a limit that comes near", settings='timeout = "50s"')
    project.asker([bash(harness, "sleep 2")] * 40 + ["<<say: never.>>"])
    status, said = project.verb("run ask")
    check(f"{project.name} is told to the agent", project.told("This attempt is ended after 50s"))
    check(f"{project.name} ends with a report", status == 0 and project.told("Your time is nearly up"), said)
    project.done()


def main():
    wanted = sys.argv[1:]
    for harness in ("claude", "opencode"):
        for scenario in (new_ui_feature, bugfix, design_refresh, troubles, permissions, retries, limits):
            named = [word for word in wanted if word in (harness, scenario.__name__)]
            if len(named) == len(wanted):
                scenario(harness)
    print(f"{len(passed)} passed, {len(failed)} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
