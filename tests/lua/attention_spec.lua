-- How the user is called when something waits: the bytes that reach the terminal.
local T = require("harness")
local S = require("support.scripted")
local describe, it, eq, ok, contains = T.describe, T.it, T.eq, T.ok, T.contains

--- A Neovim in a terminal, driven over a socket. `bytes()` returns what reached the terminal, `bells()` the number of bells
--- outside of sequences.
local function terminal(config, env)
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
  local variables = { TERM = "xterm-256color", XDG_STATE_HOME = T.state() }
  for _, name in ipairs({ "TMUX", "KITTY_WINDOW_ID", "WEZTERM_PANE", "GHOSTTY_RESOURCES_DIR", "VTE_VERSION" }) do
    variables[name] = ""
  end
  local job = vim.fn.jobstart({ vim.v.progpath, "-n", "-i", "NONE", "-u", init, "--listen", dir .. "/socket" }, {
    cwd = dir,
    pty = true,
    width = 100,
    height = 30,
    env = vim.tbl_extend("force", variables, env or {}),
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
  --- Sends what a terminal sends when it gets or loses the focus.
  function nvim.focus(gained)
    vim.fn.chansend(job, gained and "\27[I" or "\27[O")
    T.wait(function()
      return nvim:lua("return focus == ...", gained)
    end)
  end
  function nvim.bytes()
    return table.concat(bytes)
  end
  function nvim.bells()
    local _, count = nvim.bytes():gsub("\27%][^\7\27]*\7", ""):gsub("\7", "")
    return count
  end
  --- Waits until these bytes have reached the terminal.
  function nvim.shows(wanted)
    T.wait(function()
      return nvim.bytes():find(wanted, 1, true)
    end)
  end
  T.wait(function()
    return nvim:lua("return #vim.api.nvim_list_uis() > 0 and vim.v.vim_did_enter == 1")
  end)
  S.answer(nvim, "project", { root = dir })
  S.answer(nvim, "review", S.review)
  S.answer(nvim, "call-user", {})
  nvim:lua("require('superpower.boot').load('session').call('list', {})")
  nvim:lua([[
    vim.api.nvim_create_autocmd({ "FocusGained", "FocusLost" }, {
      callback = function(args) focus = args.event == "FocusGained" end,
    })
  ]])
  return nvim
end

local function call(nvim, body, title)
  S.send(nvim, {
    type = "attention",
    root = nvim.project,
    run_id = "0190-abc",
    superpower = "new-ui-feature",
    reason = "gate",
    title = title or "superpower: new-ui-feature",
    body = body,
  })
end

local function reach(nvim)
  S.send(nvim, { type = "snapshot", run = S.at_gate() })
  S.send(nvim, { type = "gate-opened", run_id = "0190-abc", stage = 5, gate = "5.1", superpower = "new-ui-feature" })
  vim.wait(400)
end

describe("the bell", function()
  it("rings while the terminal is not focused", function()
    local nvim = terminal("{ attention = { 'bell', 'osc' } }")
    call(nvim, "first")
    nvim.focus(false)
    call(nvim, "second")
    nvim.shows("second\27\\")
    eq(1, nvim.bells())
    nvim.focus(true)
    call(nvim, "third")
    nvim.focus(false)
    call(nvim, "fourth")
    nvim.shows("fourth\27\\")
    eq(2, nvim.bells())
  end)

  it("rings always, or never, by option, in its old form too", function()
    for config, bells in pairs({
      ["{ attention = { 'bell-always', 'osc' } }"] = 3,
      ["{ bell = 'always' }"] = 3,
      ["{ attention = { 'osc' } }"] = 0,
      ["{ bell = 'never' }"] = 0,
      ["{ bell = 'unfocused' }"] = 1,
    }) do
      local nvim = terminal(config)
      call(nvim, "first")
      nvim.focus(true)
      call(nvim, "second")
      nvim.focus(false)
      call(nvim, "last")
      nvim.shows("last\27\\")
      eq(bells, nvim.bells(), config)
    end
  end)
end)

describe("a notification of the terminal", function()
  local title, body = "superpower: new-ui-feature", "stage 5/8 waits at its gate: tasks"

  it("is shown while the terminal is not focused, and only then", function()
    local nvim = terminal()
    call(nvim, "unknown")
    nvim.focus(true)
    call(nvim, "focused")
    nvim.focus(false)
    call(nvim, body)
    nvim.shows(("\27]9;%s: %s\27\\"):format(title, body))
    local _, count = nvim.bytes():gsub("\27%]9;", "")
    eq(1, count)
    T.lacks(nvim.bytes(), "unknown\27")
    T.lacks(nvim.bytes(), "focused\27")
  end)

  it("is what the terminal knows, or what the option says", function()
    for _, case in ipairs({
      { "{}", { KITTY_WINDOW_ID = "1" }, "99" },
      { "{}", { TERM = "rxvt-unicode-256color" }, "777" },
      { "{}", { WEZTERM_PANE = "0" }, "777" },
      { "{ attention = { 'osc-99' } }", {}, "99" },
      { "{ attention = { 'osc-777' } }", {}, "777" },
      { "{ attention = { 'osc-9' } }", { KITTY_WINDOW_ID = "1" }, "9" },
    }) do
      local nvim = terminal(case[1], case[2])
      nvim.focus(false)
      call(nvim, body)
      local expected = {
        ["9"] = ("\27]9;%s: %s\27\\"):format(title, body),
        ["99"] = ("\27]99;i=superpower:d=0;%s\27\\\27]99;i=superpower:d=1:p=body;%s\27\\"):format(title, body),
        ["777"] = ("\27]777;notify;%s;%s\27\\"):format(title, body),
      }
      nvim.shows(expected[case[3]])
      for number in pairs(expected) do
        eq(number == case[3], nvim.bytes():find(("\27]%s;"):format(number), 1, true) ~= nil, number)
      end
    end
  end)

  it("passes through tmux", function()
    local nvim = terminal("{}", { TMUX = "/tmp/tmux-0/default,1,0" })
    nvim.focus(false)
    call(nvim, body)
    nvim.shows(("\27Ptmux;\27\27]9;%s: %s\27\27\\\27\\"):format(title, body))
    nvim = terminal("{ attention = { 'osc-99' } }", { TMUX = "/tmp/tmux-0/default,1,0" })
    nvim.focus(false)
    call(nvim, body)
    local wrapped = "\27Ptmux;\27\27]99;i=superpower:d=%d%s;%s\27\27\\\27\\"
    nvim.shows(wrapped:format(0, "", title) .. wrapped:format(1, ":p=body", body))
  end)

  it("cannot be ended or steered by what it says", function()
    local hostile = "a\27\\b\27]52;c;QQ==\7c\194\156d\226\128\174e\nf\0g"
    for _, protocol in ipairs({ "osc-9", "osc-99", "osc-777" }) do
      for _, tmux in ipairs({ "", "/tmp/tmux-0/default,1,0" }) do
        local nvim = terminal(("{ attention = { %q } }"):format(protocol), { TMUX = tmux })
        nvim.focus(false)
        call(nvim, hostile .. ("x"):rep(5000), "1;" .. hostile)
        call(nvim, "the last")
        nvim.shows("the last")
        local start = "\27%]" .. protocol:match("%d+") .. ";"
        local from = assert(nvim.bytes():find(start))
        local sent = nvim.bytes():sub(from, nvim.bytes():find("the last", 1, true))
        -- Without the sequences' own bytes nothing of a sequence is left.
        local text = sent:gsub("\27Ptmux;", ""):gsub("\27\27", "\27"):gsub(start, ""):gsub("\27\\", "")
        eq(nil, text:find("[%z\1-\31\127]"), protocol)
        eq(nil, text:find("\194[\128-\159]"), protocol)
        eq(nil, text:find("\226\128\174", 1, true), protocol)
        eq(nil, sent:find("\27]52", 1, true), protocol)
        eq(nil, sent:find(start .. "1;"), "a number is a command to some terminals")
        ok(#text < 4000, "it is bounded")
      end
    end
  end)
end)

describe("the command that calls the user", function()
  it("is run by the editor, unless its terminal has the focus", function()
    local nvim = terminal("{ attention_command = { 'notify-send', '{title}', '{body}' } }")
    call(nvim, "one")
    nvim.focus(true)
    call(nvim, "two")
    nvim.focus(false)
    call(nvim, "three")
    local bodies = vim.tbl_map(function(fields)
      return fields.body
    end, S.calls(nvim, "call-user"))
    eq({ "one", "three" }, bodies)
    local first = { root = nvim.project, title = "superpower: new-ui-feature", body = "one" }
    eq(first, S.calls(nvim, "call-user")[1])
  end)

  it("is not asked for where none is configured", function()
    local nvim = terminal()
    call(nvim, "one")
    eq({}, S.calls(nvim, "call-user"))
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
    nvim:lua("vim.g.superpower = { attention = {}, gate = { open = false } }")
    reach(nvim)
    S.send(nvim, { type = "run-finished", run_id = "r", superpower = "x", state = "complete", summary = "complete" })
    S.send(nvim, { type = "run-finished", run_id = "r", superpower = "x", state = "cancelled", summary = "by ann" })
    nvim:wait("vim.fn.execute('messages'):match('x: by ann') ~= nil")
    eq("x: by ann", vim.trim(nvim:messages()))
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
