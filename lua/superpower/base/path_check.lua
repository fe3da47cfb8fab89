--- Checks whether a path may be opened in a buffer or created. Pipes and devices would block the editor, and a link
--- may leave the project.
local M = {}

--- A larger file would take too much of the editor's time and memory.
local LARGEST = 256 * 1024 * 1024

local words = { fifo = "pipe", char = "device", block = "device", socket = "socket" }

--- Returns why this path cannot be opened in a buffer. A path that does not exist yet is fine.
---@param path string
---@return string? problem
function M.problem(path)
  local stat = vim.uv.fs_stat(path)
  if not stat or stat.type == "directory" then
    return nil
  elseif stat.type ~= "file" then
    return ('"%s" is a %s, not a regular file'):format(path, words[stat.type] or "special file")
  elseif stat.size > LARGEST then
    return ('"%s" is larger than %d MiB'):format(path, LARGEST / 1048576)
  end
end

--- Returns why nothing may be created at this path: a link on the way to it leaves the project.
---@param root string
---@param path string
---@return string? problem
function M.outside(root, path)
  local real_root = vim.uv.fs_realpath(root) or root
  local current = path
  while true do
    local real = vim.uv.fs_realpath(current)
    if real then
      local inside = real == real_root or vim.startswith(real, real_root .. "/")
      return not inside and ('"%s" leads out of the project, to "%s"'):format(current, real) or nil
    elseif vim.uv.fs_lstat(current) then
      return ('"%s" is a broken link'):format(current)
    end
    local above = vim.fs.dirname(current)
    if above == current then
      return nil
    end
    current = above
  end
end

return M
