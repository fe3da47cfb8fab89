--- The content of the trust sheet: what changed since it was last trusted, what each stage tells its agent, and every
--- file that the answer covers. Pure.
local text = require("superpower.base.text")

local M = {}

---@class superpower.SheetStage
---@field position integer
---@field label string
---@field kind string
---@field actor? string
---@field gate? boolean
---@field prompt? string
---@field inputs? { [1]: string, [2]: string }[]
---@field file? string

---@class superpower.TrustChange
---@field path string
---@field change "added"|"changed"|"removed"

---@class superpower.Sheet
---@field superpower string
---@field version? string
---@field path? string relative to the project, like all paths here
---@field stages? superpower.SheetStage[]
---@field files? (string|{ path: string })[]
---@field changes? superpower.TrustChange[]
---@field claim? string
---@field older? boolean

---@type table<string, { sign: string, group: string }>
local signs = {
  added = { sign = "+", group = "SuperpowerAdded" },
  changed = { sign = "~", group = "SuperpowerChanged" },
  removed = { sign = "-", group = "SuperpowerRemoved" },
}

--- Builds the line of a changed file.
---@param change superpower.TrustChange
---@param width integer
---@return superpower.Line
function M.change(change, width)
  local sign = signs[change.change] or signs.changed
  return {
    { ("  %s "):format(sign.sign), sign.group },
    { text.path(text.line(change.path), math.max(8, width - 16)), "SuperpowerPath" },
    { "  " .. change.change, "SuperpowerNote" },
  }
end

---@class superpower.TrustPage
---@field lines superpower.Line[]
---@field files table<integer, string> by row
---@field named table<string, true>
---@field width integer

---@param page superpower.TrustPage
---@param line superpower.Line
---@param file? string
local function add(page, line, file)
  table.insert(page.lines, line)
  if file then
    page.files[#page.lines], page.named[file] = file, true
  end
end

--- Adds a text of any length, wrapped and indented.
---@param page superpower.TrustPage
---@param indent integer
---@param words string
---@param group string?
local function add_text(page, indent, words, group)
  for _, line in ipairs(text.lines(words)) do
    for _, part in ipairs(text.wrap(line, math.max(20, page.width - indent - 1))) do
      add(page, { { (" "):rep(indent) }, { part, group } })
    end
  end
end

---@param stage superpower.SheetStage
---@return string
local function who(stage)
  return stage.kind == "gate" and "asks you" or text.line(("%s %s"):format(stage.kind, stage.actor or ""))
end

---@param page superpower.TrustPage
---@param stage superpower.SheetStage
---@param actors integer
local function add_stage(page, stage, actors)
  local gate = stage.kind == "gate"
  local file = stage.file and stage.file ~= "" and stage.file or nil
  local room = math.max(8, page.width - actors - 8)
  local tail, label = "", text.line(stage.label or "")
  if file then
    tail = text.path(text.line(file), room)
  elseif gate and text.width(label) <= room then
    tail, label = label, ""
  elseif not gate and not (stage.actor or ""):find(":", 1, true) then
    tail = "no file found here" -- a name with a namespace belongs to a plugin of the agent
  end
  add(page, {
    { (" %3d  "):format(stage.position), "SuperpowerNumber" },
    { text.fit(who(stage), actors) .. "  ", gate and "SuperpowerGate" or "SuperpowerLabel" },
    { text.cut(tail, room), file and "SuperpowerPath" or "SuperpowerNote" },
  }, file)
  if label ~= who(stage) then -- without a description the label repeats the actor
    add_text(page, 6, label)
  end
  if stage.prompt then
    add_text(page, 6, stage.prompt)
  end
  for _, input in ipairs(stage.inputs or {}) do
    add_text(page, 8, ("%s: %s"):format(input[1], input[2]), "SuperpowerNote")
  end
  if not gate and stage.gate then
    add_text(page, 6, "then asks you", "SuperpowerGate")
  end
end

--- Builds the lines of the sheet, and maps rows to files.
---@param sheet superpower.Sheet
---@param width integer
---@return superpower.Line[] lines, table<integer, string> files
function M.lines(sheet, width)
  local page = { lines = {}, files = {}, named = {}, width = width } ---@type superpower.TrustPage
  if sheet.claim then
    add_text(page, 1, "You did not start this run here. Only its files say what is done:", "SuperpowerHeading")
    add_text(page, 2, sheet.claim, "SuperpowerGate")
    add(page, { { "" } })
  end
  if sheet.older then
    add_text(page, 1, "You trusted this in an older version, which covered fewer of these files.", "SuperpowerNote")
    add(page, { { "" } })
  end
  if sheet.changes and #sheet.changes > 0 then
    add(page, { { " Changed since you trusted it", "SuperpowerHeading" } })
    for _, change in ipairs(sheet.changes) do
      add(page, M.change(change, width), change.path)
    end
    add(page, { { "" } })
  end
  if sheet.path then
    add(page, { { "  " .. text.path(text.line(sheet.path), width - 2), "SuperpowerPath" } }, sheet.path)
    add(page, { { "" } })
  end
  local actors = 12
  for _, stage in ipairs(sheet.stages or {}) do
    actors = math.max(actors, math.min(34, text.width(who(stage))))
  end
  for _, stage in ipairs(sheet.stages or {}) do
    add_stage(page, stage, actors)
  end
  local headed = false
  for _, file in ipairs(sheet.files or {}) do
    local path = type(file) == "table" and file.path or file --[[@as string]]
    if not page.named[path] then
      if not headed then
        headed = true
        add(page, { { "" } })
        add(page, { { " Other files that its agents read or run", "SuperpowerHeading" } })
      end
      add(page, { { "  " .. text.path(text.line(path), width - 2), "SuperpowerPath" } }, path)
    end
  end
  return page.lines, page.files
end

return M
