--- Follows the process that drives a project's run: whether it answers, and its end.
local notify = require("superpower.notify")
local runs = require("superpower.runs")
local watch = require("superpower.runs.watch")

local M = {}

--- Marks a run whose driver does not answer, and says so once.
---@param event { root: string, pid: integer, silent: boolean }
function M.silent(event)
  local run = runs.get(event.root)
  if run then
    run.silent = event.silent or nil
    runs.redraw(event.root)
  end
  if event.silent then
    local words = "the driver (process %d) does not answer; what is shown may be old"
    notify.news(words:format(event.pid), "warn")
  end
end

--- Looks at the run's files when its driver has gone. They say whether it was interrupted.
---@param event { root: string }
function M.gone(event)
  local run = runs.get(event.root)
  if run then
    run.ours, run.silent = false, nil
  end
  watch.start(event.root)
  watch.look(event.root)
end

return M
