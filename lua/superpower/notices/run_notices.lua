--- Reports the end or pause of a run in whole sentences: what happened, then what to do.
local text = require("superpower.base.text")
local notify = require("superpower.notify")
local runs = require("superpower.runs")

local M = {}

---@type table<string, string>
local next_step = {
  failed = ":Superpower retry, skip or cancel.",
  blocked = ":Superpower retry with what it needs, skip or cancel.",
  auth = "Log in, then :Superpower resume.",
  ["needs-human"] = "Answer with :Superpower retry ANSWER.",
  interrupted = ":Superpower resume continues.",
  user = ":Superpower resume continues.",
  trust = ":Superpower resume shows what changed and asks.",
}

local paused = {} ---@type table<string, superpower.PausedEvent> by run: pauses that wait for their snapshot

---@class superpower.PausedEvent
---@field root string
---@field run_id string
---@field superpower string
---@field reason string
---@field detail? string
---@field stage integer
---@field total integer

---@param event superpower.PausedEvent
local function report(event)
  local what = event.reason == "user" and "paused" or event.reason
  local head = ("%s: stage %d/%d %s"):format(event.superpower, event.stage or 0, event.total or 0, what)
  local detail = event.detail and event.detail ~= "" and ": " .. text.line(event.detail) or ""
  local bad = not (event.reason == "user" or event.reason == "interrupted")
  local run = runs.get(event.root)
  if run and run.run_id == event.run_id and run.state == "paused" and (run.summary or "") ~= "" then
    local words = ("%s: %s"):format(event.superpower, text.line(run.summary))
    return notify.call(words, bad and "warn" or "info", true)
  end
  notify.call(
    ("%s%s. %s"):format(head, (detail:gsub("%.$", "")), next_step[event.reason] or ""),
    bad and "warn" or "info",
    true
  )
end

---@param event superpower.PausedEvent
function M.paused(event)
  paused[event.run_id] = event
  local run = runs.get(event.root)
  if run then
    M.follow(run)
  end
end

--- Reports a pause once its snapshot has arrived, since the snapshot has the details.
---@param run superpower.Snapshot
function M.follow(run)
  local event = paused[run.run_id]
  if event and run.state == "paused" then
    paused[run.run_id] = nil
    report(event)
  end
end

---@param event { superpower: string, state: string, summary?: string }
function M.finished(event)
  local words = event.summary and event.summary ~= "" and event.summary or event.state
  local say = event.state == "complete" and notify.call or notify.news
  say(("%s: %s"):format(event.superpower, words), "info")
end

return M
