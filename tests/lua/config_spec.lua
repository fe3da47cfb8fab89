-- The configuration: optional, read when first needed, checked with full paths.
local T = require("harness")
local describe, it, eq, ok = T.describe, T.it, T.eq, T.ok

local function faults(nvim, code)
  return nvim:lua(
    "vim.g.superpower = (function() " .. code .. " end)(); return require('superpower.config').problems()"
  )
end

describe("the configuration", function()
  it("has a default for everything, and needs no setup", function()
    local nvim = T.child()
    local config = nvim:lua("return require('superpower.config').get()")
    eq("auto", config.harness)
    eq("ask", config.trust)
    eq("60m", config.timeout)
    eq("15m", config.idle)
    eq("right", config.progress.position)
    eq(true, config.gate.open)
    eq({}, nvim:lua("return require('superpower.config').problems()"))
  end)

  it("is read from vim.g, from a function, or from setup, and keeps what is not given", function()
    local nvim = T.child()
    nvim:lua("vim.g.superpower = { harness = 'manual', progress = { width = 40 } }")
    eq("manual", nvim:lua("return require('superpower.config').get().harness"))
    eq(40, nvim:lua("return require('superpower.config').get().progress.width"))
    eq("right", nvim:lua("return require('superpower.config').get().progress.position"))
    nvim:lua("vim.g.superpower = function() return { trust = 'always' } end")
    eq("always", nvim:lua("return require('superpower.config').get().trust"))
    eq("auto", nvim:lua("return require('superpower.config').get().harness"))
    nvim:lua("require('superpower').setup({ timeout = '5m' })")
    eq("5m", nvim:lua("return require('superpower.config').get().timeout"))
  end)

  it("keeps functions that are registered as facts", function()
    local nvim = T.child()
    nvim:lua(
      [[require('superpower').setup({ conditions = { ["story.has_api"] = function() return true, "seen" end } })]]
    )
    eq({ true, "seen" }, nvim:lua([[return { require('superpower.config').get().conditions["story.has_api"]() }]]))
    eq(
      { "story.has_api" },
      nvim:lua([[return require('superpower.config').for_engine(require('superpower.config').get()).conditions]])
    )
  end)

  it("takes a harness of the user's own, as data", function()
    local nvim = T.child()
    eq({}, faults(nvim, [[return { harness = "mine", harnesses = { mine = { cmd = { "mine", "{agent}" } } } }]]))
    eq({ "mine", "{agent}" }, nvim:lua("return require('superpower.config').get().harnesses.mine.cmd"))
  end)

  it("reports each problem with the option's full path, and uses the default", function()
    local nvim = T.child()
    local cases = {
      { [[return { harnes = "x" }]], 'vim.g.superpower.harnes: unknown option (did you mean "harness"?)' },
      { [[return { trust = "maybe" }]], 'vim.g.superpower.trust: expected "ask" or "always", got "maybe"' },
      {
        [[return { timeout = 5 }]],
        'vim.g.superpower.timeout: expected a number with s, m or h, such as "30m", got 5',
      },
      { [[return { progress = 1 }]], "vim.g.superpower.progress: expected a table, got 1" },
      {
        [[return { progress = { widht = 1 } }]],
        'vim.g.superpower.progress.widht: unknown option (did you mean "width"?)',
      },
      {
        [[return { gate = { delay = 10 } }]],
        "vim.g.superpower.gate.delay: expected an integer of 300 or more, got 10",
      },
      { [[return { conditions = { a = 1 } }]], 'vim.g.superpower.conditions["a"]: expected a function, got 1' },
      {
        [[return { harnesses = { claude = { cmd = "claude" } } }]],
        'vim.g.superpower.harnesses.claude.cmd: expected a list of strings, got "claude"',
      },
      {
        [[return { harnesses = { claude = { cdm = {} } } }]],
        'vim.g.superpower.harnesses.claude.cdm: unknown option (did you mean "cmd"?)',
      },
      {
        [[return { attention = { "notify", "osc9" } }]],
        'vim.g.superpower.attention: unknown value "osc9" (did you mean "osc"?)',
      },
      { [[return { attention = "bell" }]], 'vim.g.superpower.attention: expected a list of strings, got "bell"' },
      {
        [[return { bell = "loud" }]],
        'vim.g.superpower.bell: expected "unfocused" or "always" or "never", got "loud"',
      },
      { [[return 3]], "vim.g.superpower: expected a table or a function that returns one, got 3" },
    }
    for _, case in ipairs(cases) do
      eq({ case[2] }, faults(nvim, case[1]))
    end
    eq("ask", nvim:lua("vim.g.superpower = { trust = 'maybe' }; return require('superpower.config').get().trust"))
    local failed =
      nvim:lua("vim.g.superpower = function() error('oh') end; return require('superpower.config').problems()[1]")
    ok(failed:find("the function failed", 1, true))
  end)
end)

describe("an option that was replaced", function()
  it("still works, and says what to write", function()
    local nvim = T.child()
    local get = "return require('superpower.config').get()"
    for value, expected in pairs({
      always = { "notify", "bell-always", "osc" },
      never = { "notify", "osc" },
      unfocused = { "notify", "bell", "osc" },
    }) do
      local words = ('vim.g.superpower.bell: replaced by "attention": write attention = { "%s" }'):format(
        table.concat(expected, '", "')
      )
      eq({ words }, faults(nvim, ("return { bell = %q }"):format(value)))
      eq(expected, nvim:lua(get).attention)
      eq(nil, nvim:lua(get).bell)
    end
  end)

  it("gives way to the one that replaces it", function()
    local nvim = T.child()
    eq(
      { 'vim.g.superpower.bell: replaced by "attention": that is set too, so leave this out' },
      faults(nvim, [[return { bell = "always", attention = { "osc" } }]])
    )
    eq({ "osc" }, nvim:lua("return require('superpower.config').get().attention"))
  end)
end)

describe("start-up", function()
  it("requires nothing", function()
    local nvim = T.child()
    eq(
      {},
      nvim:lua([[
      return vim.tbl_filter(function(name) return name:match("^superpower") end, vim.tbl_keys(package.loaded))
    ]])
    )
    eq(2, nvim:eval("exists(':Superpower')"))
    ok(
      nvim:lua(
        "return vim.fn.maparg('<Plug>(superpower-gate)', 'n') ~= '' or vim.fn.mapcheck('<Plug>(superpower-gate)', 'n') ~= ''"
      )
    )
  end)

  it("has no global maps", function()
    local nvim = T.child()
    eq(
      {},
      nvim:lua([[
      local ours = {}
      for _, map in ipairs(vim.api.nvim_get_keymap("n")) do
        if (map.desc or ""):match("^Superpower") and not map.lhs:match("^<Plug>") then table.insert(ours, map.lhs) end
      end
      return ours
    ]])
    )
  end)
end)
