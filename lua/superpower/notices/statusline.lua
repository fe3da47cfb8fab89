--- Builds a short string for status lines, without side effects.
local text = require("superpower.base.text")
local config = require("superpower.config")
local runs = require("superpower.runs")
local state_icons = require("superpower.ui.icons")
local message_line = require("superpower.ui.message_line")
local run_text = require("superpower.ui.run_text")

local M = {}

local requested = -math.huge

---@param run superpower.Snapshot?
---@param now integer
---@param icons string
---@return string
local function words(run, now, icons)
  if not run then
    return ""
  end
  local at = ("%s %d/%d"):format(run.superpower, run.current_stage, run.total)
  if run_text.is_manual(run) then
    return ("%s %s manual"):format(state_icons.icon(icons, "by-hand", now), at)
  elseif run.state == "running" then
    local mark = state_icons.icon(icons, run.waiting_until and "limited" or "running", now)
    return run.waiting_until and ("%s %s limited"):format(mark, at) or ("%s %s"):format(mark, at)
  elseif run.state ~= "paused" then
    return ""
  elseif run.reason == "gate" then
    return ("%s %s gate %d/%d"):format(
      state_icons.icon(icons, "gate", now),
      run.superpower,
      run.current_stage,
      run.total
    )
  elseif run.reason == "failed" or run.reason == "blocked" or run.reason == "auth" then
    return ("%s %s %s"):format(state_icons.icon(icons, "failed", now), at, run.reason)
  end
  return ("%s %s %s"):format(
    state_icons.icon(icons, "held", now),
    at,
    run.reason == "needs-human" and "asks" or "paused"
  )
end

--- Returns one line that is safe in 'statusline', 'tabline' and 'winbar': nothing in it is evaluated.
---@param run superpower.Snapshot?
---@param now integer
---@param icons string
---@return string
function M.text(run, now, icons)
  return (text.line(words(run, now, icons)):gsub("%%", "%%%%"))
end

---@return string
function M.get()
  requested = vim.uv.now()
  return M.text(runs.get(), vim.uv.now(), config.get().icons)
end

local drawn = 0

--- Redraws status lines that show ours, and keeps `vim.g.superpower_status`.
function M.listen()
  requested = vim.uv.now() -- it may be shown already, before this module was loaded
  runs.listen("statusline", function(what)
    if what == "log" then
      return
    end
    local now = vim.uv.now()
    if what == "tick" and now - drawn < 400 then
      return
    end
    drawn = now
    vim.g.superpower_status = M.text(runs.get(), now, config.get().icons)
    if now - requested < 5000 or vim.o.statusline:find("superpower_status", 1, true) then
      if not message_line.is_shown() then
        pcall(vim.cmd.redrawstatus, { bang = true })
        message_line.redrawn()
      end
    end
  end)
end

return M
