--- The content of the dashboard: active and waiting runs, then the superpowers with their problems. Pure.
local text = require("superpower.base.text")
local icons = require("superpower.ui.icons")
local run_text = require("superpower.ui.run_text")

local M = {}

---@class superpower.OverviewRow
---@field run? table an unfinished run
---@field entry? table a superpower
---@field ask? superpower.Permission
---@field manual? superpower.ManualStage

---@class superpower.OverviewState
---@field list table[] superpowers
---@field left? string[] links that were not followed, if there are no superpowers
---@field runs table[] newest first; an unfinished one has its `gate`, `detail` and `live` if they are known
---@field asks superpower.Permission[]
---@field manual? superpower.ManualStage
---@field now integer
---@field icons "unicode"|"nerd"|"ascii"

---@param run table
---@return boolean
function M.unfinished(run)
  return run.state == "paused" or run.state == "running"
end

--- Describes the state of an unfinished run.
---@param run table
---@return string words, string mark, string group
function M.words(run)
  local at = ("%d/%d"):format(run.current_stage or 0, run.total or 0)
  local detail = text.line(run.detail or "")
  if run.state == "running" then
    return "runs: stage " .. at, "running", "SuperpowerNote"
  elseif run.reason == "gate" then
    local label = type(run.gate) == "table" and ": " .. text.line(run.gate.label or "") or ""
    return ("waits at gate %s%s"):format(at, label), "gate", "SuperpowerGate"
  end
  local bad = run.reason == "failed" or run.reason == "blocked" or run.reason == "auth"
  local words = "paused at " .. at
  if run.reason == "needs-human" then
    words = "asks at " .. at
  elseif run.reason and run.reason ~= "user" then
    words = words .. ": " .. run.reason
  end
  return words .. (detail ~= "" and ": " .. detail or ""),
    bad and "failed" or "held",
    bad and "SuperpowerFailed" or "SuperpowerGate"
end

--- Distinguishes a run from the other unfinished ones of its superpower: by its subject, and if that is not enough by
--- the start of its id, which `:Superpower resume` takes. Empty if it is the only one.
---@param run table
---@param runs table[]
---@return string
function M.which(run, runs)
  local alone, alike, length = true, false, 8
  for _, other in ipairs(runs) do
    if other.run_id ~= run.run_id and other.superpower == run.superpower and M.unfinished(other) then
      alone = false
      alike = alike or (other.about or "") == (run.about or "")
      while other.run_id:sub(1, length) == run.run_id:sub(1, length) and length < #run.run_id do
        length = length + 1
      end
    end
  end
  local about = text.cut(text.line(run.about or ""), 24)
  if alone then
    return ""
  elseif about == "" then
    return run.run_id:sub(1, length)
  end
  return alike and ("%s (%s)"):format(about, run.run_id:sub(1, length)) or about
end

---@param names integer
---@param mark string
---@param mark_group string
---@param name string
---@return superpower.Line
local function head(names, mark, mark_group, name)
  return { { " " .. mark .. " ", mark_group }, { text.fit(text.line(name), names) .. "  ", "SuperpowerLabel" } }
end

---@param state superpower.OverviewState
---@param row superpower.OverviewRow
---@param names integer
---@param width integer
---@return superpower.Line
local function waits_line(state, row, names, width)
  local words, mark, group, name, age
  local asking = row.ask or row.manual
  if asking then
    name = "stage " .. (asking.stage or 0)
    for _, run in ipairs(state.runs) do
      name = run.run_id == asking.run_id and run.superpower or name
    end
  end
  if row.ask then
    words = ("asks at stage %d: %s"):format(row.ask.stage or 0, text.line(row.ask.title or row.ask.tool or "?"))
    mark, group, age = "gate", "SuperpowerGate", ""
  elseif row.manual then
    words = ("manual stage %d: %s"):format(row.manual.stage, text.line(row.manual.label))
    mark, group, age = "by-hand", "SuperpowerGate", ""
  else
    words, mark, group = M.words(row.run)
    local which = M.which(row.run, state.runs)
    words = which ~= "" and which .. " · " .. words or words
    name = row.run.superpower
    age = row.run.updated_at and text.age(state.now - row.run.updated_at) or ""
  end
  local shown, colour = icons.icon(state.icons, mark, state.now)
  local line = head(names, shown, colour, name)
  table.insert(line, { text.fit(words, width - names - 5 - 9), group })
  table.insert(line, { text.right(age, 8) .. " ", "SuperpowerTime" })
  return line
end

---@param entry table
---@return string
local function tags_of(entry)
  return text.line(table.concat(entry.tags or {}, ", "))
end

--- Returns the width of the column of tags.
---@param state superpower.OverviewState
---@return integer
local function tags_width(state)
  local width = 0
  for _, entry in ipairs(state.list) do
    width = math.max(width, text.width(tags_of(entry)))
  end
  return math.min(width, 18)
end

---@param state superpower.OverviewState
---@param entry table
---@param last table? its newest run
---@param names integer
---@param width integer
---@return superpower.Line
local function entry_line(state, entry, last, names, width)
  local errors = entry.errors or 0
  local warns = entry.warnings or 0
  local mark, group = " ", "SuperpowerDim"
  if errors > 0 then
    mark, group = icons.icon(state.icons, "failed", 0)
  elseif warns > 0 then
    mark, group = "!", "SuperpowerGate"
  end
  local line = head(names, mark, group, entry.name)
  local room = width - names - 5
  local function count(n, word)
    return ("%d %s%s"):format(n, word, n == 1 and "" or "s")
  end
  if errors > 0 then
    table.insert(line, { text.fit(count(errors, "error"), 11), "SuperpowerFailed" })
    local problem = text.line(entry.first_error or ""):gsub("^[^%s:]+%.ya?ml:", "line ")
    table.insert(line, { text.cut(problem, room - 12), "SuperpowerNote" })
    return line
  end
  table.insert(line, { text.fit(count(entry.stages or 0, "stage"), 11), "SuperpowerNote" })
  room = room - 11
  local ended = ""
  if last then
    local how = last.state == "paused" and run_text.reason(last.reason) or last.state
    ended = ("%s %s"):format(how, text.age(state.now - last.updated_at))
  end
  local right = room >= 44 and 19 or 0
  local tagged = room >= 60 and tags_width(state) or 0
  local middle = room - right - (tagged > 0 and tagged + 2 or 0)
  table.insert(line, { text.fit(text.line(entry.description or ""), middle - 1) .. " ", "SuperpowerNote" })
  if tagged > 0 then
    table.insert(line, { text.fit(tags_of(entry), tagged) .. "  ", "SuperpowerPath" })
  end
  if right > 0 then
    table.insert(line, { text.right(ended, right - 1) .. " ", "SuperpowerTime" })
  end
  return line
end

---@param state superpower.OverviewState
---@param width integer
---@return superpower.Line[] lines, table<integer, superpower.OverviewRow> rows
function M.lines(state, width)
  local lines, rows = {}, {} ---@type superpower.Line[], table<integer, superpower.OverviewRow>
  local waits, newest = {}, {} ---@type superpower.OverviewRow[], table<string, table>
  for _, ask in ipairs(state.asks) do
    table.insert(waits, { ask = ask })
  end
  if state.manual then
    table.insert(waits, { manual = state.manual })
  end
  for _, run in ipairs(state.runs) do
    local is_manual = state.manual and state.manual.run_id == run.run_id -- its stage has a row already
    if M.unfinished(run) and not is_manual then
      table.insert(waits, { run = run })
    end
    newest[run.superpower] = newest[run.superpower] or run
  end
  local names = 12
  for _, entry in ipairs(state.list) do
    names = math.max(names, text.width(text.line(entry.name)))
  end
  names = math.min(names, 24, math.floor(width / 3))
  local function add(line, row)
    table.insert(lines, line)
    rows[#lines] = row
  end
  if #waits > 0 then
    add({ { " Active", "SuperpowerHeading" } })
    for _, row in ipairs(waits) do
      add(waits_line(state, row, names, width), row)
    end
    add({ { "" } })
    add({ { " Superpowers", "SuperpowerHeading" } })
  end
  for _, entry in ipairs(state.list) do
    add(entry_line(state, entry, newest[entry.name], names, width), { entry = entry })
  end
  if #state.list == 0 then
    add({ { " None here yet. :Superpower new NAME creates one.", "SuperpowerDim" } })
    for _, left in ipairs(state.left or {}) do
      add({ { " " .. text.line(left), "SuperpowerDim" } })
    end
  end
  return lines, rows
end

return M
