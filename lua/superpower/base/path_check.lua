--- What may be opened in a buffer, or made: never a pipe or a device, for which the editor would wait without an end, and
--- nothing behind a link that leads out of the project.
local M = {}

--- A file that is larger takes the editor's time and memory.
local LARGEST = 256 * 1024 * 1024

local words = { fifo = "pipe", char = "device", block = "device", socket = "socket" }

--- Why this path cannot be opened in a buffer. A file that is not there yet can.
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

--- Why nothing may be made at this path: a link on the way to it leads out of the project.
---@param root string
---@param path string
---@return string? problem
function M.outside(root, path)
  local real_root = vim.uv.fs_realpath(root) or root
  local way = path
  while true do
    local real = vim.uv.fs_realpath(way)
    if real then
      local inside = real == real_root or vim.startswith(real, real_root .. "/")
      return not inside and ('"%s" leads out of the project, to "%s"'):format(way, real) or nil
    elseif vim.uv.fs_lstat(way) then
      return ('"%s" is a link to what is not there'):format(way)
    end
    local above = vim.fs.dirname(way)
    if above == way then
      return nil
    end
    way = above
  end
end

return M
