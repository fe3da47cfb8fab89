--- Formats an error of the engine for people: its message, and the lists that came with it.
local text = require("superpower.base.text")

local M = {}

---@param value any
---@return string?
local function one(value)
  if type(value) == "string" then
    return value
  elseif type(value) == "table" and type(value.name) == "string" then
    local enum = value.enum
    return type(enum) == "table" and #enum > 0 and ("%s (%s)"):format(value.name, table.concat(enum, ", "))
      or value.name
  elseif type(value) == "table" and type(value.path) == "string" then
    return value.path
  end
end

--- The lists in `data` that are worth showing, in the order of display.
local lists = { "lines", "inputs", "names", "looked", "differences", "files", "allowed", "tried" }

---@param err superpower.Error
---@return string
function M.text(err)
  local out = { err.message or err.code }
  for _, key in ipairs(lists) do
    local list = type(err.data) == "table" and err.data[key] or nil
    if type(list) == "table" then
      for _, item in ipairs(list) do
        local words = one(item)
        local shown = words and text.line(words) -- a file's name may have line breaks
        if shown and not (err.message or ""):find(shown, 1, true) then
          table.insert(out, "  " .. shown)
        end
        if #out > 20 then
          table.insert(out, "  …")
          return table.concat(out, "\n")
        end
      end
    end
  end
  return table.concat(out, "\n")
end

---@param code string
---@param message string
---@param data? table
---@return superpower.Error
function M.new(code, message, data)
  return { code = code, message = message, data = data }
end

return M
