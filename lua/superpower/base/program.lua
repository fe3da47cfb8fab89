--- Finds a program as the engine does: in the absolute entries of PATH outside the project. Neovim's own search would
--- also find a program that the repository brings, if PATH has relative entries.
local M = {}

---@param place string
---@param root string
---@return boolean
local function within(place, root)
  return place == root or vim.startswith(place, root == "/" and root or root .. "/")
end

--- Returns the entries of PATH that programs are taken from.
---@param root? string the project, by default the working directory
---@return string[]
function M.places(root)
  root = vim.uv.fs_realpath(root or vim.fn.getcwd())
  local home = vim.uv.fs_realpath(vim.uv.os_homedir() or "/")
  -- The home directory does not count as a project: its files are the user's own.
  if root and home and within(home, root) then
    root = nil
  end
  local function taken(place)
    local real = vim.uv.fs_realpath(place)
    return vim.startswith(place, "/") and real ~= nil and not (root and within(real, root))
  end
  return vim.tbl_filter(taken, vim.split(vim.env.PATH or "", ":", { plain = true }))
end

--- Returns the absolute path of a program.
---@param name string
---@param root? string
---@return string?
function M.find(name, root)
  for _, place in ipairs(M.places(root)) do
    local path = vim.fs.joinpath(place, name)
    local stat = vim.uv.fs_stat(path)
    if stat and stat.type == "file" and vim.uv.fs_access(path, "X") then
      return path
    end
  end
end

return M
