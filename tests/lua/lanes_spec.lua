-- Lua calls operations of the main lane directly and asks for the others. The engine's schema has the lanes.
local T = require("harness")
local describe, it, eq, ok = T.describe, T.it, T.eq, T.ok

--- Direct calls of worker operations that are allowed, by file, because the caller needs the answer. Neovim expects that
--- `:checkhealth` and writing a buffer are done when they return, `check()` and `status()` return their answer, and reading
--- one part of one file is fast.
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
