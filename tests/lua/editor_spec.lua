-- The editor's environment: processes, buffers, a second editor, the user's own files and repository, and gates without a
-- user.
local T = require("harness")
local S = require("support.scripted")
local Shop = require("support.shop")
local describe, it, eq, ok, contains, lacks = T.describe, T.it, T.eq, T.ok, T.contains, T.lacks

local bug = [[bugfix issue_number=7 description="a broken total"]]
local gate = "Does this test show what was reported?"

--- A shop whose agent is a program of the test.
local function with_agent(script, opts)
  local agent = T.write(T.dir() .. "/agent", "#!/bin/sh\n" .. script)
  T.sh({ "chmod", "+x", agent })
  local config = ("vim.g.superpower = { harness = 'command', trust = %q, harnesses = { command = { cmd = { %q } } } }"):format(
    opts and opts.trust or "always",
    agent
  )
  return Shop.child(vim.tbl_extend("force", { init = config }, opts and opts.child or {}))
end

local function processes(word)
  local found = T.sh({ "sh", "-c", "ps -eo pid,args | grep -F '" .. word .. "' | grep -v grep || true" })
  return vim.trim(found.stdout)
end

describe("the editor", function()
  it("stops its child processes, also behind a wrapper", function()
    local mark = "superpower-wrapped-" .. vim.uv.hrtime()
    local nvim =
      with_agent(("cat >/dev/null\nprintf 'all:\\n\\t@sh -c \"sleep 300 # %s\"\\n' | make -f - all\n"):format(mark))
    Shop.start(nvim, bug)
    T.wait(function()
      return processes(mark) ~= ""
    end, 8000, "the wrapped process")
    nvim:quit()
    T.wait(function()
      return processes(mark) == ""
    end, 4000, "the end of what the wrapper started")
  end)

  it("shows output in buffers of its own, and a restored run is the saved one", function()
    local nvim = Shop.child()
    Shop.start(nvim, bug)
    Shop.gate(nvim, gate)
    local before = Shop.status(nvim)
    nvim:feed("q")
    nvim:lua("require('superpower.views.output').open(..., 1, 'output')", nvim.project)
    nvim:wait("vim.bo.filetype == 'superpower-output'")
    eq({ "nofile", false }, { nvim:eval("&buftype"), nvim:eval("&modifiable") == 1 })
    local text = nvim:text()
    nvim:press("ix")
    contains(nvim:text(), vim.split(text, "\n")[3])
    eq("superpower-output", nvim:eval("&filetype"))
    nvim:quit()
    local after = Shop.status(Shop.child({ cwd = nvim.project }))
    eq({ before.run_id, before.state, before.reason, before.current_stage, before.gate.id }, {
      after.run_id,
      after.state,
      after.reason,
      after.current_stage,
      after.gate.id,
    })
    for index, stage in ipairs(before.stages) do
      local other = after.stages[index]
      eq({ stage.label, stage.mark, stage.note, stage.attempt }, { other.label, other.mark, other.note, other.attempt })
    end
  end)

  it("is not needed while a run waits: another editor sees it, decides and continues", function()
    local nvim = Shop.child()
    Shop.start(nvim, bug)
    Shop.gate(nvim, gate)
    nvim:quit()
    local other = Shop.child({ cwd = nvim.project })
    other:cmd("Superpower resume bugfix")
    Shop.gate(other, gate)
    other:feed("a")
    Shop.state(other, "complete", 20000)
  end)

  it("survives the diff of an unsaved file, and a plugin that saves sends no decision", function()
    local nvim = S.child({ files = { ["docs/design/wireframes/reset.md"] = "new\n" } })
    S.answer(nvim, "review", S.review)
    S.answer(nvim, "diff", { before = "old\n", after_path = nvim.project .. "/docs/design/wireframes/reset.md" })
    local run = S.at_gate()
    run.root = nvim.project
    S.answer(nvim, "status", run)
    nvim:cmd("edit docs/design/wireframes/reset.md")
    nvim:lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'unsaved' })")
    nvim:lua([[
      vim.api.nvim_create_autocmd({ "InsertLeave", "TextChanged", "BufLeave" }, { command = "silent! wall" })
    ]])
    nvim:cmd("Superpower gate")
    nvim:wait("require('superpower.gate').is_armed()")
    nvim:feed("d")
    nvim:wait("#vim.api.nvim_list_tabpages() == 2")
    contains(nvim:text(), "unsaved")
    nvim:feed(":tabclose<CR>")
    nvim:wait("vim.bo.filetype == 'superpower-gate'")
    nvim:wait_armed()
    nvim:feed("c")
    nvim:wait_screen("Request changes")
    nvim:press("half of it<Esc>")
    eq({}, S.calls(nvim, "decide"))
    contains(nvim:text(), "half of it")
  end)

  it("answers a permission with one key from anywhere", function()
    local nvim = S.child()
    nvim:lua("vim.keymap.set('n', '<F5>', '<Plug>(superpower-gate)')")
    nvim:cmd("tabnew | vsplit | split")
    nvim:feed("i")
    S.send(nvim, { type = "permission", id = "r/1", run_id = "r", stage = 4, tool = "Bash", title = "Bash: ls" })
    nvim:wait("vim.fn.execute('messages'):match('asks for permission') ~= nil")
    nvim:feed("<Esc><F5>")
    nvim:wait("vim.bo.filetype == 'superpower-permission'")
  end)

  it("lists a run once, and maps keys in its own buffers alone", function()
    local nvim = Shop.child()
    Shop.start(nvim, bug)
    Shop.gate(nvim, gate)
    nvim:feed("q")
    nvim:cmd("Superpower")
    nvim:wait_screen(" Active")
    local lines = table.concat(nvim:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"), "\n")
    local _, count = lines:gsub("waits at gate", "")
    eq(1, count)
    nvim:feed("q")
    nvim:cmd("edit package.json")
    eq({}, nvim:lua("return vim.tbl_map(function(map) return map.lhs end, vim.api.nvim_buf_get_keymap(0, 'n'))"))
    local global = nvim:lua([[
      return vim.tbl_filter(function(map)
        return (map.desc or ""):match("^Superpower") and not map.lhs:match("^<Plug>")
      end, vim.api.nvim_get_keymap("n"))
    ]])
    eq({}, global)
  end)
end)

describe("what comes with a repository", function()
  it("starts nothing without consent, whatever is opened, listed, planned or checked", function()
    local mark = T.dir() .. "/started"
    local nvim = with_agent(("touch %s\ncat\n"):format(mark), { trust = "ask" })
    nvim:cmd("edit .claude/superpowers/bugfix.yaml")
    nvim:cmd("Superpower check")
    nvim:cmd("Superpower plan " .. bug)
    nvim:wait("vim.bo.filetype == 'superpower-plan'")
    nvim:feed("q")
    nvim:cmd("Superpower")
    nvim:wait("vim.bo.filetype == 'superpower-dashboard'")
    nvim:feed("q")
    nvim:cmd("Superpower run " .. bug)
    nvim:wait_screen("not yet trusted")
    nvim:feed("q")
    vim.uv.sleep(200)
    ok(not T.exists(mark))
    eq(nil, Shop.status(nvim))
  end)

  it("shows and keeps no token of the environment", function()
    local token = "tok-7f1c9a55e0b34d"
    local nvim = with_agent(
      'cat >/dev/null\nmkdir -p test\ndate >test/issue-7.test.js\necho "the token is $SHOP_TOKEN"\n',
      { child = { env = { SHOP_TOKEN = token } } }
    )
    Shop.start(nvim, bug)
    Shop.state(nvim, "paused")
    vim.uv.sleep(300)
    lacks(nvim:text(), token)
    local found = T.sh({ "sh", "-c", "grep -rl " .. token .. " .claude || true" }, { cwd = nvim.project })
    eq("", vim.trim(found.stdout))
    local shown = T.sh({ "sh", "-c", "grep -rl 'the token is' .claude || true" }, { cwd = nvim.project })
    ok(vim.trim(shown.stdout) ~= "", "the rest of the line is kept")
  end)

  it("is left as it was: the index, the branches and untracked files, byte for byte", function()
    local nvim = Shop.child()
    T.write(nvim.project .. "/untracked.bin", ("\0\1\2"):rep(1000))
    T.write(nvim.project .. "/staged.txt", "staged\n")
    T.sh({ "git", "add", "staged.txt" }, { cwd = nvim.project })
    local function seen()
      local said = T.sh({
        "sh",
        "-c",
        "git ls-files -s | cksum; git for-each-ref; git stash list; git count-objects; cksum untracked.bin staged.txt",
      }, { cwd = nvim.project })
      return said.stdout
    end
    local before = seen()
    Shop.start(nvim, bug)
    Shop.gate(nvim, gate)
    nvim:feed("c")
    nvim:wait_screen("Request changes")
    nvim:feed("smaller<Esc>:w<CR>")
    nvim:wait("not require('superpower.gate').is_open()")
    Shop.gate(nvim, gate)
    nvim:feed("r")
    nvim:wait_screen("reject: the run ends here")
    nvim:wait_armed()
    nvim:feed("y")
    Shop.state(nvim, "rejected")
    eq(before, seen())
  end)

  it("costs what is known, and unknown is not shown as zero; attempts are bounded", function()
    local nvim = S.child()
    S.send(nvim, { type = "snapshot", run = S.run() })
    nvim:wait("require('superpower.runs').get() ~= nil")
    nvim:cmd("Superpower progress")
    nvim:wait_screen("new-ui-feature")
    lacks(nvim:text(), "tokens")
    lacks(nvim:text(), "$0")
    local failing = with_agent("cat >/dev/null\nexit 1\n")
    Shop.start(failing, bug)
    local run = Shop.state(failing, "paused", 20000)
    eq("failed", run.reason)
    local log = T.read(failing.project .. "/.claude/logs/superpower.log")
    contains(log, "attempt 3/3")
    local _, started = log:gsub("DISPATCH", "")
    ok(started <= 3, log)
  end)

  it("has its derived files written again if they are missing or foreign", function()
    local nvim = Shop.child()
    Shop.start(nvim, bug)
    Shop.gate(nvim, gate)
    local id = Shop.status(nvim).run_id
    nvim:quit()
    T.write(
      nvim.project .. "/.claude/state/squad.json",
      '{ "active_superpower": "bugfix", "current_stage": 4, "status": "running", "run_id": "' .. id .. '" }'
    )
    local other = Shop.child({ cwd = nvim.project })
    eq(
      { "paused", "gate", 2 },
      { Shop.status(other).state, Shop.status(other).reason, Shop.status(other).current_stage }
    )
    other:cmd("Superpower resume " .. id)
    Shop.gate(other, gate)
    local squad = vim.json.decode(T.read(nvim.project .. "/.claude/state/squad.json"))
    eq({ 2, "paused" }, { squad.current_stage, squad.status })
  end)
end)

describe("a gate", function()
  it("approves nothing by default, and the defaults are those of the help page", function()
    local nvim = T.child({ driver = "process" })
    local page = T.read(T.root .. "/doc/superpower.txt"):match("%*superpower%-options%-list%*.*")
    for _, option in ipairs(nvim:lua("return require('superpower.base.options')")) do
      if type(option.default) == "string" and option.default ~= "" then
        local _, at = page:find("\n" .. option.path .. "  (", 1, true)
        ok(at, option.path)
        contains(page:sub(at, at + 160), ('default "%s"'):format(option.default), option.path)
      end
    end
    eq({ "ask", true }, nvim:lua("local c = require('superpower.config').get(); return { c.trust, c.gate.open }"))
    local shop = Shop.child()
    Shop.start(shop, bug)
    Shop.gate(shop, gate)
    vim.uv.sleep(1000)
    eq({ "paused", "gate" }, { Shop.status(shop).state, Shop.status(shop).reason })
  end)

  it("names its decisions when headless, and can be decided", function()
    local dir = Shop.project(T.dir())
    local init = T.write(T.dir() .. "/init.lua", Shop.config .. ("\nvim.opt.runtimepath:prepend(%q)"):format(T.root))
    local function headless(line)
      return T.sh({ vim.v.progpath, "--headless", "-n", "-i", "NONE", "-u", init, "-c", line }, {
        cwd = dir,
        env = { SUPERPOWER_NATIVE = T.library(), XDG_STATE_HOME = T.state(), DEMO_PACE = "0" },
      })
    end
    local first = headless("Superpower! run " .. bug)
    eq(3, first.code, first.stderr)
    contains(first.stdout, "PAUSED")
    contains(first.stdout, "decide with: approve, changes or reject")
    eq(0, headless("Superpower! approve").code)
  end)
end)
