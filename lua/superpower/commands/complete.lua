--- Completes the arguments of each sub-command. If the engine has no answer, nothing is offered and no error is shown.
local scaffold = require("superpower.declaration.scaffold")
local runs = require("superpower.runs")
local current = require("superpower.runs.current")
local session = require("superpower.session")

local M = {}

---@return string?
local function root()
  return (current.root())
end

---@param op string
---@param fields table
---@return table
local function ask(op, fields)
  fields.root = root()
  if not fields.root then
    return {}
  end
  return session.call(op, fields) or {}
end

---@return string[]
function M.names()
  return vim.tbl_map(function(entry)
    return entry.name
  end, ask("list", {}))
end

local harnesses = { "auto", "claude", "opencode", "command", "manual" }

--- Offers a name, then `key=` of each input that is not given yet, then its values.
---@param words string[]
---@param lead string
---@param reserved? table<string, string[]>
---@return string[]
local function name_and_inputs(words, lead, reserved)
  if #words == 0 then
    return M.names()
  end
  local given = {} ---@type table<string, true>
  for index = 2, #words do
    given[words[index]:match("^[^=]*")] = true
  end
  local out = {}
  local function offer(name, values)
    local key = lead:match("^([^=]*)=")
    if key == name then
      for _, value in ipairs(values or {}) do
        table.insert(out, ("%s=%s"):format(name, value))
      end
    elseif not key and not given[name] then
      table.insert(out, name .. "=")
    end
  end
  for _, input in ipairs(ask("inputs", { name = words[1] })) do
    offer(input.name, input.type == "bool" and { "true", "false" } or input.enum)
  end
  for name, values in pairs(reserved or {}) do
    offer(name, values)
  end
  return out
end

---@param words string[]
---@param lead string
---@return string[]
function M.run(words, lead)
  return name_and_inputs(words, lead, { harness = harnesses })
end

---@param words string[]
---@param lead string
---@return string[]
function M.plan(words, lead)
  return name_and_inputs(words, lead)
end

---@param words string[]
---@return string[]
function M.name(words)
  return #words == 0 and M.names() or {}
end

---@alias superpower.OfRun "any"|"gate"|"held"|"paused"|"running"|"unfinished" the runs that a verb fits

local stages = { failed = true, blocked = true, auth = true, ["needs-human"] = true }

---@type table<superpower.OfRun, fun(run: table): boolean>
local fits = {
  any = function()
    return true
  end,
  gate = function(run)
    return run.state == "paused" and run.reason == "gate"
  end,
  held = function(run)
    return run.state == "running" or (run.state == "paused" and stages[run.reason] == true)
  end,
  paused = function(run)
    return run.state == "paused"
  end,
  running = function(run)
    return run.state == "running"
  end,
  unfinished = function(run)
    return run.state == "paused" or run.state == "running"
  end,
}

--- Offers `run=`, then the ids of the runs that the verb fits.
---@param which superpower.OfRun
---@param lead string
---@return string[]
function M.of_run(which, lead)
  if not vim.startswith(lead, "run=") then
    return { "run=" }
  end
  return vim.tbl_map(function(run)
    return "run=" .. run.run_id
  end, vim.tbl_filter(fits[which], ask("runs", {})))
end

---@param words string[]
---@param _ string
---@param run_id? string
---@return string[]
function M.resume(words, _, run_id)
  local out = {}
  if #words == 0 and not run_id then
    local seen = {}
    for _, run in ipairs(ask("runs", {})) do
      if run.state == "paused" or run.state == "running" then
        if not seen[run.superpower] then
          seen[run.superpower] = true
          table.insert(out, run.superpower)
        end
        table.insert(out, run.run_id)
      end
    end
  end
  if #words <= 1 then
    local answers = { "old", "new", "go-on", "look-again", "adopt", "trust" }
    for _, answer in ipairs(answers) do
      table.insert(out, "answer=" .. answer)
    end
  end
  return out
end

---@param words string[]
---@return string[]
function M.approve(words)
  return #words == 0 and { "answer=go-on", "answer=look-again", "answer=trust" } or {}
end

---@param words string[]
---@param _ string
---@param run_id? string
---@return string[]
function M.why(words, _, run_id)
  if #words > 0 then
    return {}
  end
  local at = root()
  local run = at and runs.get(at) or nil ---@type { total: integer }?
  if run_id then
    run = vim.iter(ask("runs", {})):find(function(other)
      return vim.startswith(other.run_id, run_id)
    end)
  end
  local out = {}
  for position = 1, run and run.total or 0 do
    table.insert(out, tostring(position))
  end
  return out
end

---@param words string[]
---@return string[]
function M.new(words)
  return #words == 1 and scaffold.templates() or {}
end

return M
