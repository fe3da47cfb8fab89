-- The main loop calls what is on the main lane, and asks for the rest: which is which, the engine's schema tells.
local T = require("harness")
local describe, it, eq, ok = T.describe, T.it, T.eq, T.ok

--- Calls of the worker lane, by file: what its caller cannot go on without. Neovim wants `:checkhealth` and the writing of
--- a buffer done when they return; `check()` and `status()` promise their answer; one part of one file is read at once.
local WAITED_FOR = {
  ["ask/manual.lua"] = { "submit" },
  ["health.lua"] = { "drivers", "health" },
  ["init.lua"] = { "check" },
  ["runs/current.lua"] = { "status" },
  ["runs/file_tail.lua"] = { "read-file" },
}

describe("the worker lane", function()
  it("is not called synchronously, but for the known exceptions", function()
    local lanes = T.child():lua([[return require("superpower.engine").call("schema").lanes]])
    ok(vim.tbl_count(lanes) > 30, "the lanes are told")
    local found, read = {}, 0
    local base = T.root .. "/lua/superpower"
    for name, type in vim.fs.dir(base, { depth = 9 }) do
      if type == "file" and name:match("%.lua$") then
        for who, op in T.read(base .. "/" .. name):gmatch('(%w+)%.call%("([%w-]+)"') do
          if who == "engine" or who == "session" or who == "M" then
            read = read + 1
            ok(lanes[op], name .. " calls an operation that there is: " .. op)
            if lanes[op] == "worker" then
              found[name] = found[name] or {}
              table.insert(found[name], op)
            end
          end
        end
      end
    end
    ok(read > 15, read .. " calls are read")
    eq(WAITED_FOR, found)
  end)
end)
