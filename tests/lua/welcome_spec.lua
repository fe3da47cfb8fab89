-- The message that a run waits in the project: once, after start-up, and only if there is a user interface.
local T = require("harness")
local Shop = require("support.shop")
local describe, it, eq, ok = T.describe, T.it, T.eq, T.ok

local words = "waits at gate 2/13"

--- A project with a run at its first gate, without a driver.
local function waiting()
  local nvim = Shop.child()
  Shop.start(nvim)
  Shop.gate(nvim, "Are these the right tasks?")
  local dir = nvim.project
  nvim:quit()
  return dir
end

local function said(nvim)
  local _, count = nvim:messages():gsub(words, "")
  return count
end

describe("a project with a run that waits", function()
  it("says so once per editor, whatever is opened, and again in the next", function()
    local dir = waiting()
    for _ = 1, 2 do
      local nvim = Shop.child({ cwd = dir })
      nvim:cmd("edit README.md")
      nvim:wait(("vim.fn.execute('messages'):match(%q) ~= nil"):format(words))
      nvim:cmd("edit package.json")
      nvim:cmd("edit src/none.js")
      vim.uv.sleep(150)
      eq(1, said(nvim))
      ok(not nvim:lua("return require('superpower.gate').is_open()"))
      eq("● new-ui-feature gate 2/13", nvim:lua("return require('superpower').statusline()"))
      nvim:quit()
    end
  end)

  --- A Neovim in a terminal; `said()` returns how often the words were written to it.
  local function terminal(dir)
    local init = T.write(T.dir() .. "/init.lua", Shop.config .. ("\nvim.opt.runtimepath:prepend(%q)"):format(T.root))
    local screen = {}
    local job = vim.fn.jobstart({ vim.v.progpath, "-n", "-i", "NONE", "-u", init, "package.json" }, {
      cwd = dir,
      pty = true,
      width = 120,
      height = 30,
      env = { TERM = "xterm-256color", SUPERPOWER_NATIVE = T.library(), XDG_STATE_HOME = T.state() },
      on_stdout = function(_, data)
        vim.list_extend(screen, data)
      end,
    })
    T.finally(function()
      vim.fn.jobstop(job)
    end)
    return job, function()
      local _, count = table.concat(screen, "\n"):gsub(words, "")
      return count
    end
  end

  it("says so after start-up, in a terminal", function()
    local _, heard = terminal(waiting())
    T.wait(function()
      return heard() > 0
    end, 8000)
  end)

  it("says so again after :restart, which is another editor", function()
    if vim.fn.exists(":restart") ~= 2 then
      T.skip("this Neovim has no :restart")
    end
    local job, heard = terminal(waiting())
    T.wait(function()
      return heard() > 0
    end, 8000)
    local before = heard()
    vim.fn.chansend(job, "\27:messages clear\r:restart\r")
    T.wait(function()
      return heard() > before
    end, 8000)
  end)

  for name, how in pairs({
    ["in diff mode"] = { "edit README.md | diffthis" },
    ["in a commit message"] = { "edit .git/COMMIT_EDITMSG", "set filetype=gitcommit" },
    ["by option"] = { "let g:superpower = #{ resume_notice: v:false }", "edit README.md" },
  }) do
    it("says nothing " .. name, function()
      local dir = waiting()
      local nvim = Shop.child({ cwd = dir })
      nvim:cmd(table.concat(how, " | "))
      vim.uv.sleep(400)
      eq(0, said(nvim))
    end)
  end

  it("says nothing in an editor that a stage started", function()
    local dir = waiting()
    local nvim = Shop.child({ cwd = dir, env = { SUPERPOWER_RUN_ID = "x" } })
    nvim:cmd("edit README.md")
    vim.uv.sleep(400)
    eq(0, said(nvim))
    eq(nil, nvim:lua("return package.loaded['superpower.session']"))
  end)

  it("says what it waits for, if that is an answer", function()
    local nvim = T.child()
    local run = { superpower = "bugfix", state = "paused", current_stage = 2, total = 5 }
    for reason, expected in pairs({
      failed = "bugfix: stage 2/5 failed: exit status 1: no. :Superpower retry, skip or cancel",
      ["needs-human"] = "bugfix: stage 2/5 asks: which? :Superpower retry ANSWER",
      interrupted = "bugfix is paused at stage 2/5: interrupted. :Superpower resume continues",
    }) do
      run.reason, run.summary = reason, expected:sub(#"bugfix: " + 1)
      eq(expected, nvim:lua("return require('superpower.notices.welcome').words(...)", run))
    end
  end)

  it("says nothing headless", function()
    local dir = waiting()
    local init = T.write(T.dir() .. "/init.lua", Shop.config .. ("\nvim.opt.runtimepath:prepend(%q)"):format(T.root))
    local done = vim
      .system({ vim.v.progpath, "--headless", "-n", "-i", "NONE", "-u", init, "README.md", "-c", "sleep 300m", "-c", "qa!" }, {
        cwd = dir,
        text = true,
        env = { SUPERPOWER_NATIVE = T.library(), XDG_STATE_HOME = T.state() },
      })
      :wait(10000)
    ok(not (done.stdout .. done.stderr):find(words, 1, true))
  end)
end)

describe("a project with nothing that waits", function()
  it("loads nothing", function()
    local nvim = T.child({ files = { ["a.txt"] = "x\n" } })
    nvim:cmd("edit a.txt")
    vim.uv.sleep(100)
    eq(
      {},
      nvim:lua([[
      return vim.tbl_filter(function(name) return name:match("^superpower") end, vim.tbl_keys(package.loaded))
    ]])
    )
  end)
end)
