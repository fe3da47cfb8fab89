-- The sub-words that change no run: new, edit, check, with the real engine.
local T = require("harness")
local Shop = require("support.shop")
local describe, it, eq, ok, contains = T.describe, T.it, T.eq, T.ok, T.contains

describe(":Superpower new", function()
  for _, template in ipairs({ "blank", "new-ui-feature", "api-endpoint", "bugfix", "design-refresh" }) do
    it("creates a declaration without an error from " .. template, function()
      local nvim = Shop.child()
      nvim:cmd("Superpower new my-own " .. template)
      eq(nvim.project .. "/.claude/superpowers/my-own.yaml", nvim:lua("return vim.api.nvim_buf_get_name(0)"))
      ok(not T.exists(nvim.project .. "/.claude/superpowers/my-own.yaml"), "not written before :w")
      local text = table.concat(nvim:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"), "\n") .. "\n"
      contains(text, "name: my-own")
      nvim:cmd("write")
      local faults = nvim:lua("return require('superpower').check('.claude/superpowers/my-own.yaml')")
      eq(
        {},
        vim.tbl_filter(function(fault)
          return fault.severity == 1
        end, faults)
      )
      nvim:cmd("messages clear")
      nvim:cmd("Superpower new my-own " .. template)
      nvim:wait("vim.fn.execute('messages'):match('already exists') ~= nil")
    end)
  end

  it("quotes a name that YAML would read as something else", function()
    local nvim = Shop.child()
    nvim:cmd("Superpower new null blank")
    contains(table.concat(nvim:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"), "\n"), 'name: "null"')
  end)

  it("creates it in the first folder of superpowers that exists", function()
    for _, folder in ipairs({ ".claude/taffy", ".opencode/superpowers" }) do
      local nvim = Shop.child()
      vim.fn.delete(nvim.project .. "/.claude/superpowers", "rf")
      vim.fn.mkdir(nvim.project .. "/" .. folder, "p")
      nvim:cmd("Superpower new my-own blank")
      eq(("%s/%s/my-own.yaml"):format(nvim.project, folder), nvim:lua("return vim.api.nvim_buf_get_name(0)"))
    end
  end)

  it("asks for the template if none is given", function()
    local nvim = Shop.child()
    nvim:lua("vim.ui.select = function(items, _, done) _G.items = items; done(nil) end")
    nvim:cmd("Superpower new my-own")
    eq("blank", nvim:lua("return _G.items[1]"))
    eq("", nvim:lua("return vim.api.nvim_buf_get_name(0)"))
  end)

  it("does not ask if the name is taken", function()
    local nvim = Shop.child()
    nvim:lua("vim.ui.select = function() _G.asked = true end")
    nvim:cmd("Superpower new bugfix")
    nvim:wait("vim.fn.execute('messages'):match('bugfix.yaml already exists; :Superpower edit bugfix') ~= nil")
    eq(nil, nvim:lua("return _G.asked"))
  end)
end)

describe(":Superpower plan", function()
  it("says who would do it: manually, if no agent is found", function()
    for config, words in pairs({
      ["{}"] = "manually (no agent found)",
      ["{ harness = 'manual' }"] = "manually",
      ["{ harness = 'claude' }"] = "by claude",
    }) do
      local nvim = Shop.child({ init = "vim.g.superpower = " .. config, env = { PATH = "/usr/bin:/bin" } })
      nvim:cmd("Superpower plan bugfix issue_number=7 description=total")
      nvim:wait("vim.bo.filetype == 'superpower-plan'")
      nvim:feed("<CR>")
      nvim:wait_screen("would run: agent")
      ok(
        nvim
          :lua([[return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")]])
          :find(", " .. words .. "\n", 1, true),
        nvim:text()
      )
    end
  end)
end)

describe(":checkhealth superpower", function()
  local function health(config)
    local nvim = Shop.child({ init = "vim.g.superpower = " .. config, env = { PATH = "/usr/bin:/bin" } })
    nvim:cmd("checkhealth superpower")
    return table.concat(nvim:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"), "\n")
  end
  it("says that the harness does not exist, or cannot be started", function()
    contains(health("{ harness = 'comand' }"), 'ERROR unknown harness "comand" (did you mean "command"?)')
    contains(health("{ harness = 'claude' }"), 'ERROR harness "claude" needs the program "claude"')
    contains(health("{ harness = 'command' }"), 'ERROR harness "command" has no program')
    T.lacks(health("{}"), "ERROR")
    T.lacks(health("{ harness = 'manual' }"), "ERROR")
  end)
  it("says what a release of an agent is too old for", function()
    local function of(version)
      local program = vim.fn.tempname()
      vim.fn.writefile({ "#!/bin/sh", "echo '" .. version .. " (Claude Code)'" }, program)
      vim.uv.fs_chmod(program, 493)
      return health(("{ harnesses = { claude = { cmd = { %q } } } }"):format(program))
    end
    local old = of("2.0.58")
    contains(old, "WARNING claude: this release is too old for some things")
    contains(old, "update it to 2.0.59 or later")
    for _, version in ipairs({ "2.0.59", "2.1.153", "10.0.0", "unknown" }) do
      T.lacks(of(version), "too old")
    end
  end)
end)

describe(":Superpower edit", function()
  it("opens the declaration", function()
    local nvim = Shop.child()
    nvim:cmd("Superpower edit bugfix")
    nvim:wait("vim.api.nvim_buf_get_name(0) ~= ''")
    eq(nvim.project .. "/.claude/superpowers/bugfix.yaml", nvim:lua("return vim.api.nvim_buf_get_name(0)"))
  end)
end)

describe(":Superpower check", function()
  it("puts every problem into the quickfix list, at its place", function()
    local nvim = Shop.child()
    T.write(
      nvim.project .. "/.claude/superpowers/wrong.yaml",
      "name: wrong\ndescription: d\nversion: 1.0\nstages:\n  - agent: spec-kit\n    gate: humn-approval\n"
    )
    nvim:cmd("Superpower check")
    nvim:wait("#vim.fn.getqflist() > 0")
    local found = {}
    for _, item in ipairs(nvim:lua("return vim.fn.getqflist()")) do
      found[#found + 1] = ("%d:%d %s %s"):format(item.lnum, item.col, item.type, item.text:match("%[([%l-]+)%]$"))
    end
    ok(vim.tbl_contains(found, "3:10 E wrong-type"), vim.inspect(found))
    ok(vim.tbl_contains(found, "6:11 E unknown-gate"), vim.inspect(found))
    eq("quickfix", nvim:eval("&buftype"))
    nvim:cmd("cclose")
    nvim:cmd("messages clear")
    nvim:cmd("Superpower check bugfixx")
    nvim:wait("vim.fn.execute('messages'):match('bugfixx') ~= nil")
    nvim:cmd("messages clear")
    nvim:cmd("Superpower check bugfix")
    nvim:wait("vim.fn.execute('messages'):match('no problems') ~= nil")
    eq({}, nvim:lua("return vim.fn.getqflist()"))
    nvim:cmd("Superpower run wrong")
    nvim:wait("vim.fn.execute('messages'):match('humn%-approval') ~= nil")
    contains(nvim:messages(), "wrong.yaml:6:11")
  end)
end)

describe("a place outside a project", function()
  it("is reported, with the places that were searched", function()
    local nvim = T.child({ args = {}, cwd = nil })
    nvim:lua("vim.fn.delete('.claude', 'rf'); vim.cmd.cd(vim.env.HOME)")
    for _, line in ipairs({ "Superpower run x", "Superpower", "Superpower check", "Superpower resume" }) do
      nvim:cmd("messages clear")
      nvim:cmd(line)
      nvim:wait("vim.fn.execute('messages'):match('no project') ~= nil", 2000, line)
    end
  end)
end)

describe("a file of the user", function()
  it("opens in a window of the user, wherever the cursor is", function()
    local nvim = Shop.child()
    Shop.start(nvim, "bugfix issue_number=7 description=total")
    Shop.gate(nvim, "Does this test show what was reported?")
    nvim:feed("q")
    for name, line in pairs({ bugfix = "Superpower edit bugfix", another = "Superpower new another blank" }) do
      nvim:cmd("Superpower why")
      nvim:wait("vim.api.nvim_win_get_config(0).relative ~= ''")
      nvim:cmd(line)
      nvim:wait(("vim.fn.expand('%%:t:r') == %q"):format(name), 3000, line)
      eq("", nvim:lua("return vim.api.nvim_win_get_config(0).relative"))
    end
    T.lacks(nvim:messages(), "stack traceback")
  end)
end)
