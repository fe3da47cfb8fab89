--- An edit that an agent asks for, as a diff: its old and its new text are its input, and nobody compares them by eye.
local M = {}

local compare = vim.text and vim.text.diff or vim.diff

---@param edit any
---@return string?
local function diff(edit)
  if type(edit) ~= "table" or type(edit.old_string) ~= "string" or type(edit.new_string) ~= "string" then
    return nil
  end
  local found = compare(edit.old_string .. "\n", edit.new_string .. "\n", { ctxlen = 3 })
  return type(found) == "string" and found or nil
end

--- A tool's input with its old and new texts as `diff`; as it is where it has none, or has one of its own.
---@param input table
---@return table
function M.shown(input)
  local parts = {}
  for _, edit in ipairs(type(input.edits) == "table" and input.edits or { input }) do
    local part = diff(edit)
    if not part then
      return input
    end
    table.insert(parts, part)
  end
  if #parts == 0 then
    return input
  end
  local out = vim.tbl_extend("force", input, { diff = table.concat(parts) })
  out.old_string, out.new_string, out.edits = nil, nil, nil
  return out
end

--- The group of a line of a diff.
---@param line string
---@return string?
function M.group(line)
  return ({ ["+"] = "SuperpowerAdded", ["-"] = "SuperpowerRemoved", ["@"] = "SuperpowerNote" })[line:sub(1, 1)]
end

return M
