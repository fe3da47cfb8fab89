--- Reports, once per editor and pause, that a run of the project waits, or that one works.
local text = require("superpower.base.text")
local config = require("superpower.config")
local notify = require("superpower.notify")
local runs = require("superpower.runs")
local current = require("superpower.runs.current")
local session = require("superpower.session")
local run_text = require("superpower.ui.run_text")

local M = {}

local reported = {} ---@type table<string, true>

---@return boolean
local function is_unwanted()
  return notify.headless()
    or vim.wo.diff
    or vim.bo.filetype == "gitcommit"
    or vim.bo.filetype == "gitrebase"
    or not config.get().resume_notice
end

---@param run superpower.Snapshot
---@return string?
function M.words(run)
  if run.state == "running" then
    -- Driven by a process of its own, since before this editor. Without the stage's label: Neovim would cut the middle.
    local since = run.started_at and " since " .. run_text.clock(run.started_at) or ""
    return ("%s works%s, now at stage %d/%d: :Superpower progress"):format(
      run.superpower,
      since,
      run.current_stage,
      run.total
    )
  elseif run.state ~= "paused" then
    return nil
  elseif run.reason == "gate" and run.gate then
    return run_text.gate(run)
  elseif run.reason ~= "interrupted" and run.reason ~= "user" and (run.summary or "") ~= "" then
    -- The summary says what happened and what to do.
    return text.line(("%s: %s"):format(run.superpower, run.summary))
  end
  return ("%s is paused at stage %d/%d: %s. :Superpower resume continues"):format(
    run.superpower,
    run.current_stage,
    run.total,
    run.reason or "paused"
  )
end

--- Reports once why the run cannot be read, since a file may have been planted.
---@param err superpower.Error
local function refused(err)
  local unreadable = err.code == "unreadable-squad" or err.code == "unreadable-run"
  if unreadable and not reported[err.message] then
    reported[err.message] = true
    notify.news(text.line(err.message), "warn", true)
  end
end

function M.check()
  if vim.v.exiting ~= vim.NIL or is_unwanted() then
    return
  end
  local root = session.project()
  if not root then
    return
  end
  local known = runs.get(root)
  current.ask(root, nil, function(run, err)
    if err then
      return refused(err)
    elseif not run or (known and known.run_id == run.run_id) then
      return
    end
    local words = M.words(run)
    local key = ("%s/%s/%s"):format(run.run_id, run.current_stage, run.gate and run.gate.id or run.reason or "")
    local here = run.driver and run.driver.pid == vim.uv.os_getpid()
    if words and not reported[key] and not (run.ours and here) then
      reported[key] = true
      notify.news(words, "info", true)
    end
  end)
end

return M
