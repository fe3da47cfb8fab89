-- A run as progress messages, if Neovim supports them.
local T = require("harness")
local S = require("support.scripted")
local describe, it, eq, contains = T.describe, T.it, T.eq, T.contains

local function child(config)
  local nvim = S.child()
  if not nvim:lua("return vim.fn.has('nvim-0.12') == 1") then
    T.skip("this Neovim has no progress messages")
  end
  nvim:lua("vim.g.superpower = ...", config or {})
  nvim:lua([[
    _G.seen = {}
    vim.api.nvim_create_autocmd("Progress", {
      callback = function(args)
        table.insert(_G.seen, ("%s %s %d%%"):format(args.data.source, args.data.status, args.data.percent or -1))
        table.insert(_G.ids, args.data.id)
      end,
    })
    _G.ids = {}
  ]])
  S.attach_ui(nvim)
  return nvim
end

local function seen(nvim, count)
  nvim:wait("#_G.seen >= " .. count)
  vim.uv.sleep(50)
  return nvim:lua("return _G.seen")
end

describe("a run's progress message", function()
  it("is one, updated at each stage and ended with the run", function()
    local nvim = child()
    S.send(nvim, { type = "snapshot", run = S.run() })
    S.send(nvim, { type = "snapshot", run = S.run() })
    S.send(nvim, { type = "snapshot", run = S.run({ at = 6 }) })
    S.send(nvim, { type = "snapshot", run = S.run({ at = 8, state = "complete", summary = "complete in 1h" }) })
    eq({ "superpower running 37%", "superpower running 62%", "superpower success 100%" }, seen(nvim, 3))
    local ids = nvim:lua("return _G.ids")
    eq({ ids[1], ids[1] }, { ids[2], ids[3] })
  end)

  it("ends at a gate, and another one starts when the run continues", function()
    local nvim = child()
    S.send(nvim, { type = "snapshot", run = S.run() })
    S.send(nvim, { type = "snapshot", run = S.at_gate() })
    S.send(nvim, { type = "snapshot", run = S.run({ at = 6 }) })
    eq({ "superpower running 37%", "superpower success 50%", "superpower running 62%" }, seen(nvim, 3))
    eq(false, nvim:lua("return _G.ids[1] == _G.ids[3]"))
  end)

  it("is shown for runs that this editor drives, and never by option", function()
    local nvim = child()
    S.send(nvim, { type = "snapshot", run = S.run({ ours = false }) })
    vim.uv.sleep(100)
    eq({}, nvim:lua("return _G.seen"))
    nvim = child({ progress = { messages = false } })
    S.send(nvim, { type = "snapshot", run = S.run() })
    vim.uv.sleep(100)
    eq({}, nvim:lua("return _G.seen"))
  end)

  it("waits while a command is typed", function()
    local nvim = child()
    nvim:feed(":let g:typed = 1")
    nvim:wait("vim.api.nvim_get_mode().mode == 'c'")
    S.send(nvim, { type = "snapshot", run = S.run() })
    vim.uv.sleep(100)
    eq({}, nvim:lua("return _G.seen"))
    S.send(nvim, { type = "snapshot", run = S.run({ at = 6 }) })
    nvim:feed("<CR>")
    contains(seen(nvim, 1)[1], "running 62%")
    eq(1, nvim:eval("g:typed"))
  end)
end)
