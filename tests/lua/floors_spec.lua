-- The requires of the Lua half are at the top of each file, point to lower floors, and have no cycle.
local T = require("harness")
local Floors = require("support.floors")
local describe, it, eq, ok, contains = T.describe, T.it, T.eq, T.ok, T.contains

--- The sources below a folder of the plugin, by module.
local function sources()
  local found = {}
  local base = T.root .. "/lua/superpower"
  for name, type in vim.fs.dir(base, { depth = 9 }) do
    local module = type == "file" and name:match("^(.+)%.lua$")
    if module then
      module = module:gsub("/", "."):gsub("%.init$", "")
      found[module] = module ~= "types" and T.read(base .. "/" .. name) or nil
    end
  end
  return found
end

describe("lua/superpower", function()
  it("has floors, and no circles", function()
    local all = sources()
    ok(vim.tbl_count(all) > 80, "the files are found")
    eq({}, Floors.problems(all))
  end)

  it("has many requires to check", function()
    local count = 0
    for module, source in pairs(sources()) do
      count = count + #Floors.requires(module, source)
    end
    ok(count > 400, count .. " requires")
  end)
end)

describe("what is registered at start-up", function()
  it("enters through boot.lua only, and only when it is used", function()
    for _, file in ipairs({ "/plugin/superpower.lua", "/lua/lualine/components/superpower.lua" }) do
      for line in vim.gsplit(T.read(T.root .. file), "\n", { plain = true }) do
        local module = line:match("require%(?[\"']superpower([%w_.]*)[\"']")
        if module then
          ok(module == ".boot" or module == "", file .. ": " .. line)
          ok(line:match("^%s"), "it is not required when the file is sourced: " .. line)
        end
      end
    end
  end)
end)

describe("the check of floors", function()
  --- A small set of modules, and one with a fault.
  local function house(planted)
    return Floors.problems(vim.tbl_extend("force", {
      notify = "local M = {}\nreturn M\n",
      session = 'local notify = require("superpower.notify")\n\nlocal M = {}\nreturn M\n',
      ["ui.float"] = 'local notify = require("superpower.notify")\nreturn {}\n',
      gate = '--- A gate: see `require("superpower.boot")`.\nlocal session = require("superpower.session")\nreturn {}\n',
      boot = 'local gate = lazy("superpower.gate")\nreturn {}\n',
    }, planted))
  end

  it("finds no problem in a correct set of files", function()
    eq({}, house({}))
  end)

  it("finds a require that points up", function()
    eq(
      { "session:1 requires gate, which stands above it", "a circle: gate -> session -> gate" },
      vim.fn.reverse(house({ session = 'local gate = require("superpower.gate")\nreturn {}\n' }))
    )
    eq(
      { "ui.float:1 requires gate, which stands above it" },
      house({ ["ui.float"] = 'local gate = require("superpower.gate")\nreturn {}\n' })
    )
  end)

  it("finds a circle on one floor, however long", function()
    local found = house({
      gate = 'local a = require("superpower.ask.a")\nreturn {}\n',
      ["ask.a"] = 'local b = require("superpower.views.b")\nreturn {}\n',
      ["views.b"] = 'local gate = require("superpower.gate")\nreturn {}\n',
    })
    eq({ "a circle: ask.a -> views.b -> gate -> ask.a" }, found)
  end)

  it("finds a require inside a function, in any spelling, and one after other code", function()
    for _, line in ipairs({
      '  require("superpower.notify").info("x")',
      "  local n = require 'superpower.notify'",
      'local M = {}\nlocal notify = require("superpower.notify")',
    }) do
      local found = house({ gate = "local M = {}\nfunction M.f()\nend\n" .. line .. "\nreturn M\n" })
      eq(1, #found, line)
      contains(found[1], "requires notify, and not at the top")
    end
  end)

  it("finds a lazy require, one of a missing module, and a module without a floor", function()
    eq({ "gate:1 loads notify lazily" }, house({ gate = 'local notify = lazy("superpower.notify")\nreturn {}\n' }))
    eq({ "gate:1 requires nothing, which is not there" }, house({ gate = 'local x = require("superpower.nothing")\n' }))
    eq({ "attic stands on no floor" }, house({ attic = "return {}\n" }))
  end)
end)

describe("the main loop", function()
  --- Operations that replay a journal or read a whole project.
  local slow = { "check-all", "diff", "health", "list", "log", "output", "plan", "review", "runs", "status", "why" }
  --- Files that may wait for the answer, because their caller waits: scripts, `:checkhealth`, completion, verbs with a bang.
  local waits = { "health", "init", "runs.current", "commands.complete", "commands.headless" }

  it("waits for no slow operation in a window", function()
    local found, asked = {}, 0
    for module, source in pairs(sources()) do
      for how, op in source:gmatch('session%.(%l+)%(%s*"([%l-]+)"') do
        local is_slow = vim.list_contains(slow, op)
        asked = asked + (how == "ask" and is_slow and 1 or 0)
        if how == "call" and is_slow and not vim.list_contains(waits, module) then
          table.insert(found, ("%s calls %s"):format(module, op))
        end
      end
      ok(
        module == "runs.current" or not source:find("current.status(", 1, true) or vim.list_contains(waits, module),
        module
      )
    end
    ok(asked >= 12, asked .. " are asked")
    eq({}, found)
  end)
end)
