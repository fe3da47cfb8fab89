--- Encodes a request to the library.
local M = {}

--- Fields that are maps: an empty Lua table would be sent as a list.
local MAPS = { inputs = true, config = true, harnesses = true }

--- Returns a copy in which empty maps are marked as such. Cycles raise.
local function mark_maps(value, key)
  if type(value) ~= "table" then
    return value
  end
  if next(value) == nil then
    return MAPS[key] and vim.empty_dict() or value
  end
  local copy = {}
  for name, inner in pairs(value) do
    copy[name] = mark_maps(inner, name)
  end
  return copy
end

--- Encodes a request. A value that is not data (a function, a cycle) raises.
---@param op string
---@param fields? table
---@return string
function M.text(op, fields)
  local request = { op = op }
  for name, value in pairs(fields or {}) do
    request[name] = mark_maps(value, name)
  end
  request.op = op
  return vim.json.encode(request)
end

return M
