-- Behaviour that all windows share: position, the text below, conversion to a split, sessions, other windows above them.
local T = require("harness")
local S = require("support.scripted")
local describe, it, eq, ok, contains, lacks = T.describe, T.it, T.eq, T.ok, T.contains, T.lacks

local function child(opts)
  local nvim = S.child(opts)
  S.answer(nvim, "review", S.review)
  S.answer(nvim, "decide", { run_id = "0190-abc" })
  S.answer(nvim, "trust-grant", {})
  nvim:cmd("set shortmess+=I")
  return nvim
end

local function at_gate(nvim)
  local run = S.at_gate()
  run.root = nvim.project
  S.answer(nvim, "status", run)
  return run
end

--- Asks for trust in a declaration with this number of stages.
local function sheet(nvim, stages)
  local list = {}
  for position = 1, stages do
    table.insert(list, {
      position = position,
      label = "Stage",
      actor = "agent-" .. position,
      kind = "agent",
      file = (".claude/agents/a-folder-with-a-long-name/agent-%d.md"):format(position),
    })
  end
  S.refuse(nvim, "run", {
    code = "untrusted",
    message = "untrusted",
    data = { digest = "d", sheet = { superpower = "bugfix", version = "1.0.0", stages = list, files = {} } },
  })
  nvim:cmd("Superpower run bugfix")
  nvim:wait_screen("what it will do")
end

describe("content that does not fit", function()
  it("is announced in the footer, if it is below", function()
    local nvim = child({ columns = 80, lines = 24 })
    sheet(nvim, 40)
    contains(nvim:text(), "↓ 66 more")
    contains(nvim:text(), "t trust and continue")
    nvim:feed("<C-e>")
    nvim:wait_screen("↓ 65 more")
    nvim:feed("G")
    nvim:wait_no_screen("↓")
    contains(nvim:text(), "agent-40")
  end)

  it("is not announced if all is shown, and the sheet is no larger than its text", function()
    local nvim = child({ columns = 80, lines = 24 })
    sheet(nvim, 3)
    lacks(nvim:text(), "↓")
    eq(9, nvim:lua("return vim.api.nvim_win_get_height(0)"))
  end)

  it("shows a path by its end", function()
    local nvim = child({ columns = 60, lines = 15 })
    sheet(nvim, 3)
    contains(nvim:text(), "/agent-3.md")
    lacks(nvim:text(), "a-folder-with-a-long-name/agent-3.md")
  end)

  it("in the message line is cut, so that no key is needed", function()
    local nvim = child({ columns = 60, lines = 15 })
    S.attach_ui(nvim)
    nvim:wait("vim.o.columns == 100")
    nvim:lua("require('superpower.notify').info(('word '):rep(100))")
    nvim:wait("#vim.fn.execute('messages') >= 500")
    nvim:wait_screen("word wo...rd word")
    eq("n", nvim:mode().mode)
    nvim:lua("vim.notify = function(words) _G.heard = words end; require('superpower.notify').info(('word '):rep(100))")
    nvim:wait("_G.heard ~= nil")
    eq(500, #nvim:lua("return _G.heard"), "a notifier of the user's own gets all of it")
  end)
end)

describe("without a command line ('cmdheight' is 0)", function()
  it("an error is shown, and no key is needed", function()
    local nvim = child({ columns = 80, lines = 24 })
    nvim:cmd("set cmdheight=0")
    S.attach_ui(nvim)
    nvim:feed(":Superpower rnu<CR>")
    nvim:wait("vim.fn.execute('messages'):match('did you mean \"run\"') ~= nil")
    eq("n", nvim:mode().mode)
  end)
end)

describe("a file under review that cannot be opened", function()
  it("says why: deleted, a link to nowhere, a name that is not UTF-8", function()
    local nvim = child()
    local files = {
      { path = "gone.txt", status = "-", removed = 3 },
      { path = "link.txt", status = "+", added = 1 },
      { path = "caf\239\191\189.txt", status = "+", added = 1 },
    }
    vim.uv.fs_symlink("nowhere.txt", nvim.project .. "/link.txt")
    S.answer(nvim, "review", vim.tbl_extend("force", S.review, { files = files }))
    at_gate(nvim)
    nvim:cmd("Superpower gate")
    nvim:wait("require('superpower.gate').is_armed()")
    for index, words in ipairs({ "deleted", "a broken link to nowhere.txt", "its name is not UTF-8" }) do
      local path = files[index].path
      S.answer(nvim, "diff", { before = "a\n", after_path = nvim.project .. "/" .. path })
      nvim:lua("vim.fn.search(..., 'w')", path:sub(1, 3))
      nvim:feed("d")
      nvim:wait("#vim.api.nvim_list_tabpages() == 2")
      contains(nvim:lua("return vim.api.nvim_buf_get_name(0)"), words)
      nvim:cmd("tabclose")
      nvim:wait("vim.bo.filetype == 'superpower-gate'")
    end
  end)
end)

describe("a comment that is left in another tab", function()
  it("moves along when it is continued elsewhere, and the editor survives", function()
    local nvim = child()
    local run = S.run({ state = "paused", reason = "needs-human", detail = "which?", mark = "held" })
    run.root = nvim.project
    S.answer(nvim, "status", run)
    nvim:cmd("Superpower gate")
    nvim:wait_screen("waits for you:")
    nvim:feed("blue<Esc>")
    -- Another plugin opens a window from there and closes it, such as a hover or a list of keys.
    nvim:lua([[
      local place = { relative = "editor", width = 9, height = 1, row = 0, col = 0 }
      vim.api.nvim_win_close(vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), true, place), true)
    ]])
    nvim:cmd("tabnew")
    nvim:cmd("Superpower gate")
    nvim:wait_screen("waits for you:")
    eq("blue", nvim:lua("return vim.api.nvim_buf_get_lines(0, 0, 1, false)[1]"))
    nvim:cmd("tabfirst")
    lacks(nvim:text(), "waits for you:")
    ok(nvim:alive())
  end)
end)

describe("a window that is made a split", function()
  local function made_split(nvim, key)
    nvim:feed("<C-w>" .. key)
    nvim:wait("vim.api.nvim_win_get_config(0).relative == ''")
  end

  it("keeps its keys and its title: the gate", function()
    local nvim = child()
    at_gate(nvim)
    nvim:cmd("Superpower gate")
    nvim:wait("require('superpower.gate').is_armed()")
    made_split(nvim, "J")
    nvim:wait("vim.wo.winbar:match('approve') ~= nil")
    contains(nvim:text(), "a approve")
    contains(nvim:text(), "Await wireframe approval")
    nvim:wait("require('superpower.gate').is_armed()")
    vim.uv.sleep(400)
    nvim:feed("a")
    nvim:wait("#require('superpower.engine').script.calls('decide') == 1")
  end)

  it("gives the keys the room if there is little", function()
    local nvim = child({ columns = 80, lines = 24 })
    at_gate(nvim)
    nvim:cmd("Superpower gate")
    nvim:wait("require('superpower.gate').is_open()")
    made_split(nvim, "H")
    nvim:wait("vim.wo.winbar:match('approve') ~= nil")
    contains(nvim:text(), "a approve")
    contains(nvim:text(), "g?")
  end)

  it("keeps them: the dashboard, the inputs, the progress window", function()
    local nvim = child()
    S.answer(nvim, "runs", {})
    nvim:cmd("Superpower")
    nvim:wait("vim.bo.filetype == 'superpower-dashboard'")
    made_split(nvim, "K")
    nvim:wait_screen("Superpowers ·")
    contains(nvim:text(), "plan")
    nvim:feed("q")
    S.answer(nvim, "inputs", { { name = "epic", type = "string", required = true } })
    S.refuse(nvim, "run", { code = "missing-inputs", message = "missing", data = { inputs = {} } })
    nvim:cmd("Superpower run bugfix")
    nvim:wait("vim.bo.filetype == 'superpower-inputs'")
    made_split(nvim, "K")
    nvim:wait_screen("<C-s> start")
    nvim:feed("q")
    S.send(nvim, { type = "snapshot", run = S.run() })
    nvim:wait("require('superpower.runs').get() ~= nil")
    nvim:cmd("Superpower progress")
    nvim:feed("<C-w>w")
    nvim:wait("vim.bo.filetype == 'superpower-progress'")
    made_split(nvim, "L")
    nvim:wait_screen("new-ui-feature")
    S.send(nvim, { type = "snapshot", run = S.run({ at = 6 }) })
    nvim:wait_screen("6/8")
    eq("", nvim:lua("return vim.api.nvim_win_get_config(0).relative"), "and it stays one")
  end)
end)

describe("a gate that is opened above a sheet", function()
  it("has the keys; then the sheet has them, after a quiet moment of its own", function()
    local nvim = child()
    at_gate(nvim)
    sheet(nvim, 3)
    nvim:cmd("Superpower gate")
    nvim:wait("require('superpower.gate').is_armed()")
    eq("superpower-gate", nvim:eval("&filetype"))
    nvim:feed("q")
    nvim:wait("vim.bo.filetype == 'superpower-trust'")
    nvim:feed("t")
    vim.uv.sleep(100)
    eq({}, S.calls(nvim, "trust-grant"), "too early")
    vim.uv.sleep(500)
    nvim:feed("t")
    nvim:wait("#require('superpower.engine').script.calls('trust-grant') == 1")
    eq({}, S.calls(nvim, "decide"))
  end)

  it("does not open automatically: a message says that it waits", function()
    local nvim = child()
    sheet(nvim, 3)
    S.send(nvim, { type = "snapshot", run = S.at_gate() })
    S.send(nvim, { type = "gate-opened", run_id = "0190-abc", stage = 5, gate = "5.1", superpower = "new-ui-feature" })
    nvim:wait("vim.fn.execute('messages'):match('waits at gate 5/8') ~= nil")
    eq("superpower-trust", nvim:eval("&filetype"))
  end)
end)

describe("a session", function()
  it("keeps nothing of our windows, and is restored without an error", function()
    local nvim = child({ files = { ["a.txt"] = "a\n" } })
    nvim:cmd("edit a.txt")
    S.send(nvim, { type = "snapshot", run = S.run() })
    nvim:wait("require('superpower.runs').get() ~= nil")
    nvim:lua("vim.g.superpower = { progress = { position = 'split' } }")
    nvim:cmd("Superpower progress")
    at_gate(nvim)
    nvim:cmd("Superpower gate")
    local file = nvim.project .. "/Session.vim"
    nvim:cmd("set sessionoptions+=blank,globals,localoptions,options | mksession! " .. file)
    lacks(T.read(file), "superpower://gate")
    local other = T.child({ cwd = nvim.project, plugin = true })
    other:cmd("source " .. file)
    eq({ "a" }, other:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"))
    eq(1, other:lua("return #vim.api.nvim_list_wins()"))
    eq("", other:messages())
  end)
end)

describe("recording a macro", function()
  it("records only what is typed, and no gate takes the focus meanwhile", function()
    local nvim = child({ files = { ["a.txt"] = "one\ntwo\n" } })
    nvim:cmd("edit a.txt")
    nvim:feed("qqx")
    S.send(nvim, { type = "snapshot", run = S.at_gate() })
    S.send(nvim, { type = "gate-opened", run_id = "0190-abc", stage = 5, gate = "5.1", superpower = "new-ui-feature" })
    nvim:wait("vim.fn.execute('messages'):match('waits at gate 5/8') ~= nil")
    nvim:feed("jq")
    nvim:wait("vim.fn.reg_recording() == ''")
    eq("xj", nvim:eval("@q"))
    ok(not nvim:lua("return require('superpower.gate').is_open()"))
  end)
end)

-- No autocommands, buffers or windows may accumulate in an editor that stays open for weeks.
describe("a window that was opened and closed", function()
  local counted = [[
    return {
      autocommands = #vim.api.nvim_get_autocmds({}),
      buffers = #vim.api.nvim_list_bufs(),
      windows = #vim.api.nvim_list_wins(),
      namespaces = vim.tbl_count(vim.api.nvim_get_namespaces()),
    }
  ]]
  local function open_and_close(nvim, command, times)
    for _ = 1, times do
      nvim:cmd(command)
      nvim:wait("#vim.api.nvim_list_wins() > 1 and vim.api.nvim_win_get_config(0).relative ~= ''")
      nvim:cmd("close")
      nvim:wait("#vim.api.nvim_list_wins() == 1")
    end
  end

  for _, command in ipairs({ "gate", "", "runs", "why", "plan new-ui-feature" }) do
    it(("leaves nothing behind: :Superpower %s"):format(command), function()
      local nvim = child()
      at_gate(nvim)
      S.answer(nvim, "why", { lines = { "1 Spec intake: runs" } })
      S.answer(nvim, "plan", { stages = {} })
      S.answer(nvim, "inputs", {})
      S.answer(nvim, "runs", { S.at_gate() })
      open_and_close(nvim, "Superpower " .. command, 2)
      local before = nvim:lua(counted)
      open_and_close(nvim, "Superpower " .. command, 10)
      eq(before, nvim:lua(counted))
    end)
  end
end)

describe("an error in the user's settings for a file type", function()
  it("does not prevent a comment from being written", function()
    local nvim = child()
    nvim:cmd("autocmd FileType markdown throw 'mine'")
    at_gate(nvim)
    nvim:cmd("Superpower gate")
    nvim:wait("require('superpower.gate').is_armed()")
    nvim:feed("c")
    nvim:wait_screen("Request changes")
    nvim:feed("smaller<Esc>:w<CR>")
    nvim:wait("#require('superpower.engine').script.calls('decide') == 1")
  end)
end)
