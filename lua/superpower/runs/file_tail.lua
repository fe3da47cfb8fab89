--- Reads the end of the plugin's own files: a stage's output, its prompt, the log. The engine reads them, because a
--- repository may have replaced one (by a pipe, a link, a device) and that must not block the editor.
local session = require("superpower.session")

local M = {}

---@class superpower.Part a part of a file
---@field text string
---@field from integer its offset in the file
---@field size integer the size of the whole file

--- Returns the last part of a file, or why it cannot be read.
---@param root string
---@param path string absolute, or relative to the root
---@param most integer bytes
---@return superpower.Part? part
---@return string? problem
function M.last(root, path, most)
  local part, err = session.call("read-file", {
    root = root,
    path = path,
    from = -most,
    most = most,
  })
  if part then
    return part
  end
  return nil, err and err.message or ('"%s" does not exist'):format(path)
end

--- The same, as lines. The first line may be incomplete.
---@param root string
---@param path string
---@param most integer bytes
---@return string[]? lines
---@return string? problem
function M.lines(root, path, most)
  local part, problem = M.last(root, path, most)
  if not part then
    return nil, problem
  end
  local lines = vim.split(part.text, "\n", { plain = true })
  if lines[#lines] == "" then
    table.remove(lines)
  end
  return lines
end

return M
