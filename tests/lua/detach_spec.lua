-- User interfaces that detach and attach: `:detach`, `nvim --remote-ui`, `:restart`. A run continues without a user
-- interface, and a new one is shown what waits.
local T = require("harness")
local S = require("support.scripted")
local describe, it, eq, ok = T.describe, T.it, T.eq, T.ok

--- A server without a user interface, driven over its socket.
local function server()
  local dir = T.dir()
  local init = S.engine .. ("\nvim.opt.runtimepath:prepend(%q)\nvim.o.shortmess = 'atI'"):format(T.root)
  T.write(dir .. "/init.lua", init)
  local cmd =
    { vim.v.progpath, "--headless", "-n", "-i", "NONE", "-u", dir .. "/init.lua", "--listen", dir .. "/socket" }
  local job = vim.fn.jobstart(cmd, { cwd = dir, env = { XDG_STATE_HOME = T.state() } })
  T.finally(function()
    vim.fn.jobstop(job)
  end)
  local nvim = { project = dir }
  T.wait(function()
    local fine, opened = pcall(vim.fn.sockconnect, "pipe", dir .. "/socket", { rpc = true })
    nvim.channel = fine and opened > 0 and opened or nil
    return nvim.channel
  end)
  function nvim.lua(_, code, ...)
    return vim.rpcrequest(nvim.channel, "nvim_exec_lua", code, { ... })
  end
  function nvim.wait(_, expression, ms)
    return T.wait(function()
      return nvim:lua("return " .. expression)
    end, ms, expression)
  end
  --- A terminal that shows the server; `keys` are typed into it.
  function nvim.attach()
    local before = nvim:lua("return #vim.api.nvim_list_uis()")
    local ui = vim.fn.jobstart({ vim.v.progpath, "--server", dir .. "/socket", "--remote-ui" }, {
      pty = true,
      width = 100,
      height = 30,
      env = { TERM = "xterm-256color" },
    })
    T.finally(function()
      vim.fn.jobstop(ui)
    end)
    nvim:wait("#vim.api.nvim_list_uis() > " .. before)
    return ui
  end
  function nvim.detach(_, ui)
    vim.fn.jobstop(ui)
    nvim:wait("#vim.api.nvim_list_uis() == 0")
  end
  S.answer(nvim, "project", { root = dir })
  S.answer(nvim, "review", S.review)
  S.answer(nvim, "decide", { run_id = "0190-abc" })
  nvim:lua("require('superpower.boot').load('session').call('list', {})")
  return nvim
end

local function reach(nvim)
  S.send(nvim, { type = "snapshot", run = S.at_gate() })
  S.send(nvim, { type = "gate-opened", run_id = "0190-abc", stage = 5, gate = "5.1", superpower = "new-ui-feature" })
  nvim:wait("require('superpower.runs').get() ~= nil")
end

local open = "require('superpower.gate').is_open()"

describe("a user interface that attaches", function()
  it("is offered the gate that was reached without a user interface", function()
    local nvim = server()
    reach(nvim)
    vim.uv.sleep(300)
    ok(not nvim:lua("return " .. open), "nobody is there")
    local ui = nvim:attach()
    nvim:wait(open)
    eq("superpower-gate", nvim:lua("return vim.bo.filetype"))
    nvim:detach(ui)
    ok(nvim:lua("return " .. open), "and it waits for the next one")
    eq({}, S.calls(nvim, "decide"))
  end)

  it("finds a window's keys inactive, however long it was open without a user", function()
    local nvim = server()
    local ui = nvim:attach()
    reach(nvim)
    nvim:wait("require('superpower.gate').is_armed()")
    nvim:detach(ui)
    vim.uv.sleep(500)
    ui = nvim:attach()
    vim.fn.chansend(ui, "a")
    vim.uv.sleep(150)
    eq({}, S.calls(nvim, "decide"))
    nvim:wait("require('superpower.gate').is_armed()")
    vim.fn.chansend(ui, "a")
    nvim:wait("#require('superpower.engine').script.calls('decide') == 1")
  end)

  it("reports a gate that was left for later, and a permission that was asked meanwhile", function()
    local nvim = server()
    local ui = nvim:attach()
    reach(nvim)
    nvim:wait(open)
    nvim:lua("vim.cmd.close()")
    nvim:detach(ui)
    nvim:lua("vim.cmd('messages clear')")
    ui = nvim:attach()
    nvim:wait("vim.fn.execute('messages'):match('waits at gate 5/8') ~= nil")
    nvim:detach(ui)
    S.send(nvim, { type = "permission", id = "r/1", run_id = "0190-abc", stage = 4, tool = "Bash", title = "Bash: ls" })
    vim.uv.sleep(100)
    nvim:attach()
    nvim:wait("vim.bo.filetype == 'superpower-permission'")
    eq({}, S.calls(nvim, "answer"))
  end)

  it("leaves with :detach, and the run continues", function()
    local nvim = server()
    if not nvim:lua("return vim.fn.exists(':detach') == 2") then
      T.skip("this Neovim has no :detach")
    end
    local ui = nvim:attach()
    S.send(nvim, { type = "snapshot", run = S.run() })
    nvim:wait("require('superpower.runs').get() ~= nil")
    vim.fn.chansend(ui, ":detach\r")
    nvim:wait("#vim.api.nvim_list_uis() == 0")
    reach(nvim)
    vim.uv.sleep(100)
    nvim:attach()
    nvim:wait(open)
  end)
end)
