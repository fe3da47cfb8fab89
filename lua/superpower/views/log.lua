--- The run's log in a buffer that grows with it.
local text = require("superpower.base.text")
local notify = require("superpower.notify")
local runs = require("superpower.runs")
local file_tail = require("superpower.runs.file_tail")
local session = require("superpower.session")
local output = require("superpower.views.output")

local M = {}

local buf ---@type integer?
local root ---@type string?
local shown = 0

---@param at string
---@return string[]
local function lines_of(at)
  local lines = runs.log(at)
  if #lines > 0 then
    return lines
  end
  local path = vim.fs.joinpath(at, ".claude/logs/superpower.log")
  if not vim.uv.fs_lstat(path) then
    return {}
  end
  local kept, problem = file_tail.lines(at, path, 1024 * 1024)
  return kept and vim.list_slice(kept, math.max(1, #kept - 1999)) or { problem }
end

local function refresh()
  if not buf or not vim.api.nvim_buf_is_valid(buf) or not root then
    runs.listen("log", nil)
    buf = nil
    return
  end
  local lines = vim.tbl_map(text.visible, lines_of(root))
  local grown = #lines > shown and shown > 0
  local follow = {}
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if vim.api.nvim_win_get_cursor(win)[1] >= vim.api.nvim_buf_line_count(buf) then
      table.insert(follow, win)
    end
  end
  if grown then
    vim.bo[buf].modifiable = true
    vim.api.nvim_buf_set_lines(buf, -1, -1, false, vim.list_slice(lines, shown + 1))
    vim.bo[buf].modifiable = false
    vim.bo[buf].modified = false
  else
    output.fill(buf, lines)
  end
  shown = #lines
  for _, win in ipairs(follow) do
    vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
  end
end

--- Shows the log of one run, rebuilt from its journal.
---@param at string root
---@param run_id string
local function of_run(at, run_id)
  session.ask("log", { root = at, run_id = run_id }, function(value, err)
    if err then
      return notify.engine_error(err)
    end
    local lines = vim.tbl_map(text.visible, value.lines)
    output.show("Log", "superpower://log/" .. value.run_id, "superpower-log", lines)
  end)
end

---@param at string root
---@param run_id? string
function M.open(at, run_id)
  if run_id then
    return of_run(at, run_id)
  end
  root, shown = at, 0
  buf = output.show("Log", "superpower://log", "superpower-log", {})
  refresh()
  vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(buf), 0 })
  runs.listen("log", function(what, of)
    if what == "log" and of == root then
      refresh()
    end
  end)
end

return M
