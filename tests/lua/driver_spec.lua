-- Runs in a process of their own: they go on without an editor, and any editor shows them.
local T = require("harness")
local Shop = require("support.shop")
local describe, it, eq, ok, contains, lacks = T.describe, T.it, T.eq, T.ok, T.contains, T.lacks

if vim.fn.executable(vim.fs.joinpath(vim.fs.dirname(T.library() or ""), "superpower")) == 0 then
  describe("a driver", function()
    it("is started by an editor", function()
      T.skip('the program "superpower" is not beside the library')
    end)
  end)
  return
end

--- An editor on a project, whose runs a process of their own drives. All of them see the same sockets.
local function editor(runtime, opts)
  opts = opts or {}
  opts.driver = "process"
  opts.env = vim.tbl_extend("force", { DEMO_PACE = "0.05", XDG_RUNTIME_DIR = runtime }, opts.env or {})
  return Shop.child(opts)
end

local function runtime_dir()
  local dir = T.dir() .. "/runtime"
  vim.fn.mkdir(dir, "p", tonumber("700", 8))
  return dir -- a driver leaves when its project is deleted, as every spec's is
end

local function driver(nvim)
  return nvim:lua("return (require('superpower.runs').get() or {}).driver.pid")
end

local function messages(nvim)
  return nvim:lua("return vim.fn.execute('messages')")
end

local function lives(pid)
  return vim.uv.fs_stat("/proc/" .. pid .. "/stat") ~= nil
end

describe("a run in a driver", function()
  it("goes on when the editor exits; the next one says what works, and decides at its gate", function()
    local runtime = runtime_dir()
    local first = editor(runtime, { env = { DEMO_PACE = "0.4" } })
    Shop.start(first)
    first:wait_screen("1/13 · running")
    local pid = driver(first)
    ok(pid ~= first:pid(), "another process drives")
    eq("", vim.trim(messages(first)))
    first:quit(5000)
    ok(lives(pid))
    local second = editor(runtime, { cwd = first.project })
    second:cmd("edit README.md")
    second:wait("vim.fn.execute('messages'):match('works since') ~= nil")
    T.matches(messages(second), "new%-ui%-feature works since %d+:%d+, now at stage 1/13: :Superpower progress")
    second:cmd("Superpower progress")
    second:wait_screen("1/13 · running")
    Shop.gate(second, "Are these the right tasks?", 30000)
    second:feed("a")
    Shop.gate(second, "Are these the right screens?", 30000)
    second:feed("r")
    second:wait_screen("y reject")
    vim.uv.sleep(500)
    second:feed("y")
    Shop.state(second, "rejected")
  end)

  it("is live in two editors, and what one decides closes the other's window", function()
    local runtime = runtime_dir()
    local first = editor(runtime)
    Shop.start(first)
    local second = editor(runtime, { cwd = first.project })
    second:cmd("edit README.md")
    Shop.gate(first, "Are these the right tasks?")
    second:cmd("Superpower gate")
    second:wait("require('superpower.gate').is_open()")
    vim.uv.sleep(500)
    first:feed("a")
    second:wait_screen("Decided elsewhere: approved by")
    contains(second:text(), "(key, nvim " .. first:pid() .. ")")
    second:feed("q")
    Shop.gate(first, "Are these the right screens?")
    second:cmd("Superpower cancel")
    Shop.state(first, "cancelled")
    Shop.state(second, "cancelled")
    lacks(messages(first) .. messages(second), "stack traceback")
  end)

  it("is interrupted when its driver is killed, which is said; resume starts another driver", function()
    local nvim = editor(runtime_dir(), { env = { DEMO_PACE = "0.5" } })
    Shop.start(nvim)
    nvim:wait_screen("1/13 · running")
    local pid = driver(nvim)
    vim.uv.kill(pid, "sigkill")
    nvim:wait("vim.fn.execute('messages'):match('interrupted') ~= nil", 8000)
    nvim:wait_screen("interrupted")
    nvim:cmd("Superpower resume")
    nvim:wait_screen("1/13 · running", 8000)
    ok(driver(nvim) ~= pid)
  end)

  it("is shown as silent while its driver does not answer", function()
    local nvim = editor(runtime_dir(), { env = { DEMO_STALL = "spec-kit" } })
    Shop.start(nvim)
    nvim:wait_screen("looking for something")
    local pid = driver(nvim)
    vim.uv.kill(pid, "sigstop")
    nvim:wait_screen("driver silent", 8000)
    contains(messages(nvim), ("the driver (process %d) does not answer"):format(pid))
    vim.uv.kill(pid, "sigcont")
    nvim:wait("not require('superpower.runs').get().silent", 8000)
    T.wait(function()
      return not nvim:text():find("driver silent", 1, true)
    end, 5000, "the driver to be shown as it is")
  end)

  it("is followed from the first line of a stage's output by an editor that came late", function()
    local runtime, project = runtime_dir(), Shop.project(T.dir())
    T.write(project .. "/.claude/agents/counter.md", "---\nname: counter\ndescription: Counts\n---\nCount.\n")
    T.write(
      project .. "/.claude/superpowers/count.yaml",
      'name: count\nversion: "1.0.0"\ndescription: Counts\nstages:\n  - agent: counter\n    description: Count\n'
    )
    -- It counts until it is told to stop, so that both editors come while it does.
    local count =
      "i=0; while [ -d .claude ] && [ ! -e stop ]; do i=$((i+1)); echo line $i; sleep 0.02; done; echo the end"
    local init = ([[vim.g.superpower = { harness = "command", trust = "always",
      harnesses = { command = { cmd = { "sh", "-c", %q } } } }]]):format(count)
    local first = editor(runtime, { cwd = project, init = init })
    Shop.start(first, "count")
    first:wait_screen("line 5", 8000)
    first:quit(5000)
    local second = editor(runtime, { cwd = project, init = init })
    second:cmd("edit README.md")
    second:wait("(require('superpower.runs').get() or {}).driver ~= nil", 8000)
    second:lua("require('superpower.views.output').open(..., 1, 'output')", project)
    second:wait("vim.bo.filetype == 'superpower-output'")
    local late = second:lua("return vim.fn.line('$')")
    second:wait(("vim.fn.line('$') > %d"):format(late + 5), 8000)
    eq(second:lua("return vim.fn.line('$')"), second:lua("return vim.fn.line('.')"))
    T.write(project .. "/stop", "")
    second:wait("vim.fn.getline('$') == 'the end'", 8000)
    local shown = second:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")
    local expected = {}
    for number = 1, #shown - 1 do
      expected[number] = "line " .. number
    end
    eq(vim.list_extend(expected, { "the end" }), shown)
    ok(#shown > late + 5)
  end)

  it("is ended with its driver by a command, and health shows both", function()
    local nvim = editor(runtime_dir(), { env = { DEMO_STALL = "spec-kit" } })
    Shop.start(nvim)
    nvim:wait_screen("looking for something")
    local pid = driver(nvim)
    nvim:cmd("checkhealth superpower")
    local health = table.concat(nvim:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"), "\n")
    contains(health, ("process %d, version"):format(pid))
    contains(health, "new-ui-feature, stage 1/13, running")
    nvim:cmd("bwipeout!")
    nvim:cmd("Superpower driver end")
    nvim:wait(("vim.fn.execute('messages'):match('ended the driver .process %d') ~= nil"):format(pid), 8000)
    T.wait(function()
      return not lives(pid)
    end, 5000, "the driver's end")
    local squad = vim.json.decode(T.read(nvim.project .. "/.claude/state/squad.json"))
    eq({ "paused", "interrupted" }, { squad.status, squad.reason })
  end)

  it("is interrupted on exit if that is wanted", function()
    local nvim = editor(runtime_dir(), {
      env = { DEMO_STALL = "spec-kit" },
      init = Shop.config .. "\nvim.g.superpower = vim.tbl_extend('force', vim.g.superpower, { on_exit = 'stop' })",
    })
    Shop.start(nvim)
    nvim:wait_screen("looking for something")
    nvim:quit(5000)
    T.wait(function()
      local squad = vim.json.decode(T.read(nvim.project .. "/.claude/state/squad.json"))
      return squad.status == "paused" and squad.reason == "interrupted"
    end, 8000, "the run to be interrupted")
  end)

  it("asks for a stage's result in an editor that came later", function()
    local runtime = runtime_dir()
    local first = editor(runtime)
    Shop.start(first, "new-ui-feature harness=manual " .. Shop.inputs)
    first:wait_screen("write the result below", 8000)
    first:quit(5000)
    local second = editor(runtime, { cwd = first.project })
    second:cmd("edit README.md")
    second:wait("vim.fn.execute('messages'):match('works since') ~= nil")
    second:cmd("Superpower gate")
    second:wait_screen("write the result below", 8000)
    second:feed("Gotasks are written<Esc>:w<CR>")
    T.wait(function()
      local journals = vim.fn.glob(second.project .. "/.claude/state/runs/*/journal.jsonl", true, true)
      return (T.read(journals[1]) or ""):find("tasks are written", 1, true)
    end, 8000, "the result to be taken")
  end)

  it("that cannot be had is driven in the editor, which says why", function()
    local runtime = runtime_dir()
    local nvim = editor(runtime)
    -- Another program listens where the driver would.
    local name = vim.fn.sha256(nvim:lua("return vim.uv.fs_realpath(vim.uv.cwd())")):sub(1, 16)
    vim.fn.mkdir(runtime .. "/superpower", "p", tonumber("700", 8))
    local server = vim.uv.new_pipe(false)
    T.finally(function()
      server:close()
    end)
    assert(server:bind(("%s/superpower/%s.sock"):format(runtime, name)))
    server:listen(8, function()
      local client = vim.uv.new_pipe(false)
      server:accept(client)
      client:write("220 mail ready\r\n")
    end)
    Shop.start(nvim)
    Shop.gate(nvim, "Are these the right tasks?", 20000)
    contains(messages(nvim), "is not a driver of superpower; the run is driven in this editor")
    eq("", T.sh({ "sh", "-c", "pgrep -f '[d]rive --root " .. nvim.project .. "' || true" }).stdout)
  end)
end)
