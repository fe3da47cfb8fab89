-- Two editors in one project, of which one drives: each sees what the other does, and a gate is decided only once.
local T = require("harness")
local Shop = require("support.shop")
local describe, it, eq, ok, contains = T.describe, T.it, T.eq, T.ok, T.contains

describe("a second editor", function()
  it("sees the run, cannot drive it, and its window of a gate dies when the other decides", function()
    local first = Shop.child({ driver = "editor" })
    Shop.start(first)
    Shop.gate(first, "Are these the right tasks?")
    local second = Shop.child({ driver = "editor", cwd = first.project })
    second:cmd("Superpower gate")
    second:wait("require('superpower.gate').is_open()")
    vim.uv.sleep(500)
    first:feed("a")
    second:wait_screen("Decided elsewhere: approved by")
    contains(second:text(), "(key, nvim " .. first:pid() .. ")")
    second:feed("a")
    vim.uv.sleep(100)
    ok(second:lua("return require('superpower.gate').is_open()"))
    second:feed("q")
    second:cmd("Superpower approve")
    second:wait("vim.fn.execute('messages') ~= ''")
    Shop.gate(first, "Are these the right screens?")
    second:cmd("Superpower progress")
    second:wait_screen("5/13 · gate")
    first:feed("a")
    second:wait_screen("6/13 · running", 8000)
    second:cmd("messages clear")
    second:cmd("Superpower resume")
    second:wait("vim.fn.execute('messages'):match('" .. first:pid() .. "') ~= nil")
    Shop.gate(first, "Is this how the shop should look?")
    second:wait_screen("7/13 · gate", 3000)
    eq(
      {},
      second:lua(
        "return vim.tbl_filter(function(l) return l:match('stack traceback') end, vim.split(vim.fn.execute('messages'), '\\n'))"
      )
    )
  end)

  it("hears of a gate once, and may decide it", function()
    local first = Shop.child({ driver = "editor" })
    Shop.start(first)
    Shop.gate(first, "Are these the right tasks?")
    local second = Shop.child({ driver = "editor", cwd = first.project })
    second:cmd("Superpower gate")
    vim.uv.sleep(500)
    second:feed("a")
    first:wait_screen("Decided elsewhere: approved by")
    Shop.gate(second, "Are these the right screens?")
    contains(second:text(), "5/13")
    first:feed("q")
    first:wait("not require('superpower.gate').is_open()")
  end)

  it("sees that the first was killed, which changes no file", function()
    local first = Shop.child({ driver = "editor", env = { DEMO_STALL = "spec-kit" } })
    Shop.start(first)
    first:wait_screen("looking for something")
    local second = Shop.child({ driver = "editor", cwd = first.project })
    second:cmd("Superpower progress")
    second:wait_screen("1/13 · running")
    first:kill()
    second:wait_screen("interrupted", 8000)
    second:wait("vim.fn.execute('messages'):match('resume') ~= nil")
    eq(false, second:lua("return require('superpower.runs').ticking()"))
  end)

  it("that starts another run leaves the gate of the first run to its window", function()
    local first = Shop.child({ driver = "editor" })
    Shop.start(first)
    Shop.gate(first, "Are these the right tasks?")
    local second = Shop.child({ driver = "editor", cwd = first.project })
    Shop.start(second, "bugfix issue_number=7 description=total")
    second:wait_screen("bugfix")
    first:wait("(require('superpower.runs').get() or {}).superpower == 'bugfix'", 8000)
    contains(first:text(), "Are these the right tasks?")
    T.lacks(first:text(), "no longer waits")
    first:feed("q")
    first:wait("not require('superpower.gate').is_open()")
    first:cmd("Superpower gate")
    Shop.gate(first, "Are these the right tasks?")
    Shop.gate(second, "Does this test show what was reported?")
    T.write(first.project .. "/since.md", "written after the list was shown\n")
    first:feed("a")
    first:wait_screen("Nothing was approved yet")
    first:wait("require('superpower.gate').is_armed()")
    first:feed("a")
    Shop.gate(first, "Are these the right screens?")
  end)
end)

--- Takes the drive lock away from whoever has it, as a driver does that found none.
local taker = [[
import fcntl, json, os, sys, time
path, run = sys.argv[1:]
while True:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    try:
        lock = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        continue
    break
holder = {"pid": os.getpid(), "run_id": run, "superpower": "bugfix", "since": int(time.time() * 1000)}
os.write(lock, json.dumps(holder).encode())
print("taken", flush=True)
sys.stdin.read()
]]

describe("a driver that has lost its lock", function()
  it("stops if another one drives meanwhile, says who, and writes nothing more", function()
    local agent = "while [ ! -e go ]; do sleep 0.05; done; echo done"
    local nvim = Shop.child({
      init = ([[vim.g.superpower = { harness = "command", trust = "always", gate = { open = false },
        harnesses = { command = { cmd = { "sh", "-c", %q } } } }]]):format(agent),
    })
    Shop.start(nvim)
    local run_id = Shop.state(nvim, "running").run_id
    local state = nvim.project .. "/.claude/state/"
    local taken = false
    local other = vim.system({ "python3", "-c", taker, state .. "drive.lock", run_id }, {
      stdin = true,
      stdout = function(_, text)
        taken = taken or text ~= nil
      end,
    })
    T.finally(function()
      other:kill("sigkill")
    end)
    T.wait(function()
      return taken
    end, 8000, "the lock")
    local journal = T.read(("%sruns/%s/journal.jsonl"):format(state, run_id))
    local squad = T.read(state .. "squad.json")
    T.write(nvim.project .. "/go", "")
    nvim:wait(("vim.fn.execute('messages'):find('process %d', 1, true) ~= nil"):format(other.pid), 9000)
    contains(nvim:messages(), "is driven by another editor")
    nvim:wait("not require('superpower.runs').driving()")
    eq(journal, T.read(("%sruns/%s/journal.jsonl"):format(state, run_id)), "no second writer")
    eq(squad, T.read(state .. "squad.json"), "no second writer")
    -- Once the other is through, the run goes on from what its journal has. (This agent writes none of the files.)
    other:kill("sigkill")
    other:wait()
    nvim:cmd("Superpower resume run=" .. run_id)
    nvim:wait("require('superpower').status().reason == 'failed'", 9000)
    eq(run_id, Shop.status(nvim).run_id)
  end)
end)
