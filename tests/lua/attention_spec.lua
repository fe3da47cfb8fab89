-- How the user is called when something waits: the bytes that reach the terminal.
local T = require("harness")
local S = require("support.scripted")
local describe, it, eq, ok, contains = T.describe, T.it, T.eq, T.ok, T.contains

--- A Neovim in a terminal, driven over a socket; `bells()` returns the number of bells.
local function terminal(config)
  local dir = T.dir()
  local init = T.write(
    dir .. "/init.lua",
    S.engine
      .. ("\nvim.opt.runtimepath:prepend(%q)\nvim.g.superpower = %s\nvim.o.shortmess = 'atI'"):format(
        T.root,
        config or "{}"
      )
  )
  local bytes = {}
  local job = vim.fn.jobstart({ vim.v.progpath, "-n", "-i", "NONE", "-u", init, "--listen", dir .. "/socket" }, {
    cwd = dir,
    pty = true,
    width = 100,
    height = 30,
    env = { TERM = "xterm-256color", XDG_STATE_HOME = T.state() },
    on_stdout = function(_, data)
      vim.list_extend(bytes, data)
    end,
  })
  local channel
  T.finally(function()
    vim.fn.jobstop(job)
  end)
  T.wait(function()
    local fine, opened = pcall(vim.fn.sockconnect, "pipe", dir .. "/socket", { rpc = true })
    channel = fine and opened > 0 and opened or nil
    return channel
  end)
  local nvim = { project = dir, channel = channel }
  function nvim.lua(_, code, ...)
    return vim.rpcrequest(channel, "nvim_exec_lua", code, { ... })
  end
  function nvim.bells()
    local _, count = table.concat(bytes):gsub("\27%][^\7]*\7", ""):gsub("\7", "")
    return count
  end
  T.wait(function()
    return nvim:lua("return #vim.api.nvim_list_uis() > 0 and vim.v.vim_did_enter == 1")
  end)
  S.answer(nvim, "project", { root = dir })
  S.answer(nvim, "review", S.review)
  nvim:lua("require('superpower.boot').load('session').call('list', {})")
  return nvim
end

local function reach(nvim)
  S.send(nvim, { type = "snapshot", run = S.at_gate() })
  S.send(nvim, { type = "gate-opened", run_id = "0190-abc", stage = 5, gate = "5.1", superpower = "new-ui-feature" })
  vim.wait(400)
end

describe("the bell", function()
  it("rings when something waits and the editor is unfocused", function()
    local nvim = terminal()
    reach(nvim)
    eq(0, nvim.bells())
    nvim:lua("vim.api.nvim_exec_autocmds('FocusLost', {})")
    S.send(nvim, { type = "permission", id = "1", stage = 1, tool = "Bash", title = "t", input = {} })
    T.wait(function()
      return nvim.bells() == 1
    end)
    S.send(
      nvim,
      { type = "run-paused", run_id = "0190-abc", reason = "failed", stage = 1, total = 8, superpower = "x" }
    )
    T.wait(function()
      return nvim.bells() == 2
    end)
    nvim:lua("vim.api.nvim_exec_autocmds('FocusGained', {})")
    S.send(
      nvim,
      { type = "run-paused", run_id = "0190-abc", reason = "failed", stage = 1, total = 8, superpower = "x" }
    )
    vim.wait(200)
    eq(2, nvim.bells())
  end)

  it("rings always, or never, by option", function()
    local nvim = terminal("{ bell = 'always' }")
    reach(nvim)
    T.wait(function()
      return nvim.bells() == 1
    end)
    nvim:lua("vim.g.superpower = { bell = 'never' }; vim.api.nvim_exec_autocmds('FocusLost', {})")
    reach(nvim)
    vim.wait(200)
    eq(1, nvim.bells())
  end)
end)

describe("notifications", function()
  it("can be limited to what waits, or turned off", function()
    local nvim = S.child()
    S.answer(nvim, "review", S.review)
    nvim:lua("vim.g.superpower = { notify = 'attention', gate = { open = false } }")
    S.send(
      nvim,
      { type = "run-finished", run_id = "r", superpower = "x", state = "complete", summary = "complete in 1s" }
    )
    reach(nvim)
    nvim:wait("vim.fn.execute('messages'):match('waits at gate 5/8') ~= nil")
    ok(not nvim:messages():find("complete in 1s", 1, true))
    nvim:cmd("messages clear")
    nvim:lua("vim.g.superpower = { notify = 'none', gate = { open = false } }")
    reach(nvim)
    S.send(nvim, { type = "notice", level = "error", message = "something" })
    vim.uv.sleep(200)
    eq("", nvim:messages())
    nvim:cmd("Superpower nonsense")
    nvim:wait("vim.fn.execute('messages'):match('unknown sub%-command') ~= nil")
  end)

  it("name unsaved files once during a run", function()
    local nvim = S.child({ files = { ["a.txt"] = "x\n" } })
    nvim:cmd("edit a.txt")
    nvim:lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'y' })")
    for _ = 1, 3 do
      S.send(nvim, { type = "stage-started", run_id = "r", superpower = "x", stage = 1, total = 2 })
    end
    nvim:wait("vim.fn.execute('messages'):match('unsaved changes') ~= nil")
    local _, count = nvim:messages():gsub("unsaved changes: a.txt", "")
    eq(1, count)
    contains(nvim:messages(), "the agent does not see")
  end)

  it("reload and name files that an agent changed without reporting them", function()
    local nvim = S.child({ files = { ["a.txt"] = "one\ntwo\nthree\n", ["b.txt"] = "x\n", ["c.txt"] = "x\n" } })
    nvim:cmd("edit c.txt | edit b.txt | edit a.txt | 3")
    nvim:lua("vim.api.nvim_buf_set_lines(vim.fn.bufnr('b.txt'), 0, -1, false, { 'mine' })")
    nvim:lua("vim.api.nvim_buf_set_lines(vim.fn.bufnr('c.txt'), 0, -1, false, { 'mine' })")
    S.send(nvim, { type = "stage-started", run_id = "r", superpower = "x", stage = 1, total = 2 })
    vim.uv.sleep(50)
    T.write(nvim.project .. "/a.txt", "zero\none\ntwo\nthree\n")
    T.write(nvim.project .. "/b.txt", "theirs\n")
    local finished =
      { type = "stage-finished", run_id = "r", superpower = "x", stage = 1, total = 2, outcome = "passed" }
    S.send(nvim, vim.deepcopy(finished))
    nvim:wait("vim.fn.getline(1) == 'zero'")
    eq(3, nvim:eval("line('.')"))
    nvim:wait("vim.fn.execute('messages'):match('an agent changed files.-: b.txt') ~= nil")
    ok(not nvim:messages():match("an agent changed files[^\n]*c%.txt"))
    eq({ "mine" }, nvim:eval("getbufline('b.txt', 1, '$')"))
    S.send(nvim, vim.deepcopy(finished))
    vim.uv.sleep(50)
    local _, count = nvim:messages():gsub("an agent changed files", "")
    eq(1, count)
  end)
end)

describe("a message that is longer than the screen is wide", function()
  it("shows its beginning and its end, asks for no key, and is whole in :messages", function()
    local nvim = T.child({ plugin = true, columns = 80 })
    S.attach_ui(nvim)
    local text = "demo is paused: cannot use " .. ("a long path/"):rep(12) .. ": No space left on device, it's full"
    for _, level in ipairs({ "info", "warn", "error" }) do
      nvim:lua("local level, text = ...; require('superpower.notify')[level](text)", level, level .. ": " .. text)
      nvim:wait_screen(level .. ": demo is paused")
      nvim:wait_screen("left on device, it's full")
      T.eq("n", nvim:mode().mode)
      T.contains(nvim:messages(), level .. ": " .. text)
    end
    nvim:lua("vim.o.shortmess = 'filnxt' require('superpower.notify').error('again ' .. ...)", text)
    nvim:wait_screen("again demo is paused")
    T.eq("filnxt", nvim:lua("return vim.o.shortmess"))
    nvim:lua("told = {} vim.notify = function(...) table.insert(told, (...)) end")
    nvim:lua("require('superpower.notify').warn(...)", text)
    nvim:wait("return told[1] ~= nil")
    T.eq(text, nvim:lua("return told[1]"))
  end)

  it("does so without a command line", function()
    local nvim = T.child({ plugin = true, columns = 80 })
    S.attach_ui(nvim)
    nvim:cmd("set cmdheight=0")
    local text = "demo is paused: cannot use " .. ("a long path/ "):rep(12) .. ": No space left on device, it's full"
    for _, level in ipairs({ "info", "warn", "error" }) do
      nvim:lua("local level, text = ...; require('superpower.notify')[level](text)", level, level .. ": " .. text)
      nvim:wait("vim.fn.execute('messages'):match('full') ~= nil") -- the next redraw removes what is shown
      T.eq({ blocking = false, mode = "n" }, nvim:mode())
      T.contains((nvim:messages():gsub("%s+", " ")), ((level .. ": " .. text):gsub("%s+", " ")))
      nvim:cmd("messages clear")
    end
    nvim:feed("ityped<Esc>")
    nvim:wait_screen("typed")
  end)
end)
