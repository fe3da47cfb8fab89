--- Shows an edit that an agent asks for as a diff, since its input holds the whole old and new text.
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

--- Returns a tool's input with its old and new texts replaced by `diff`. An input without them, or with a diff, is
--- returned unchanged.
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

--- Returns the highlight group of a line of a diff.
---@param line string
---@return string?
function M.group(line)
  return ({ ["+"] = "SuperpowerAdded", ["-"] = "SuperpowerRemoved", ["@"] = "SuperpowerNote" })[line:sub(1, 1)]
end

return M
