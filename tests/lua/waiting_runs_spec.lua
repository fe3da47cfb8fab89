-- Lists of waiting runs: each entry can be told from the others, and a damaged journal is shown as damaged.
local T = require("harness")
local Bang = require("support.bang")
local describe, it, eq, ok, contains, lacks = T.describe, T.it, T.eq, T.ok, T.contains, T.lacks

--- An editor in a project with runs at a gate, one for each of these epics.
---@param epics string[]
---@return table nvim, string dir
local function waiting(epics)
  local dir = Bang.project()
  for _, epic in ipairs(epics) do
    eq(3, Bang.run("Superpower! run small epic=" .. epic, { dir = dir }).code)
  end
  local nvim =
    T.child({ plugin = true, cwd = dir, columns = 100, lines = 40, env = { SUPERPOWER_NATIVE = T.library() } })
  return nvim, dir
end

--- Damages the gate's record in the only journal of a project, so that the later records have no valid predecessor.
---@param dir string
local function spoil(dir)
  local journal = vim.fn.glob(dir .. "/.claude/state/runs/*/journal.jsonl")
  local lines = vim.split(T.read(journal), "\n")
  lines[#lines - 2] = "{ spoilt"
  T.write(journal, table.concat(lines, "\n"))
end

describe("the dashboard", function()
  it("tells four waiting runs of one superpower apart", function()
    local nvim = waiting({ "one", "two", "alike", "alike" })
    nvim:cmd("Superpower")
    nvim:wait("vim.bo.filetype == 'superpower-dashboard'")
    nvim:wait_screen("waits at gate 2/3")
    local rows, seen = {}, {}
    for _, line in ipairs(nvim:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")) do
      local which = line:match("small%s+(.-) · waits at gate 2/3")
      if which then
        table.insert(rows, which)
        seen[which] = true
      end
    end
    eq(4, #rows, vim.inspect(rows))
    eq(4, vim.tbl_count(seen), vim.inspect(rows))
    ok(seen.one and seen.two, vim.inspect(rows))
    for which in pairs(seen) do
      ok(which == "one" or which == "two" or which:match("^alike %(%x[%x-]+%)$"), which)
    end
  end)

  it("says of a run whose journal is damaged where, and not that it waits", function()
    local nvim, dir = waiting({ "one" })
    spoil(dir)
    nvim:cmd("Superpower")
    nvim:wait("vim.bo.filetype == 'superpower-dashboard'")
    nvim:wait_screen("damaged at byte")
    lacks(nvim:text(), "waits at gate")
  end)
end)

describe(":checkhealth", function()
  it("says of a run whose journal is damaged where, and how it is repaired", function()
    local nvim, dir = waiting({ "one" })
    spoil(dir)
    nvim:cmd("checkhealth superpower")
    local lines = nvim:lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')")
    contains(lines, "unfinished: small, stage ")
    contains(lines, "damaged at byte")
    contains(lines, ":Superpower resume shows what is lost and how to continue")
    lacks(lines, "paused, gate")
  end)
end)
