--- Opens one of the user's files in one of the user's windows: our windows show nothing else.
local actions = require("superpower.editor.actions")

local M = {}

--- Whether a window is the user's own and may show another buffer.
---@param win integer
---@return boolean
local function ordinary(win)
  local pinned = vim.fn.has("nvim-0.11") == 1 and vim.wo[win].winfixbuf
  return vim.api.nvim_win_get_config(win).relative == "" and not pinned
end

---@param path string
---@return boolean opened
function M.file(path)
  if not ordinary(0) then
    local before = vim.fn.win_getid(vim.fn.winnr("#"))
    local wins = vim.list_extend({ before }, vim.api.nvim_tabpage_list_wins(0))
    local target = vim.iter(wins):find(function(win)
      return win ~= 0 and ordinary(win)
    end)
    if target then
      actions.enter(target)
    else
      actions.split("topleft new")
    end
  end
  return actions.file("edit", path)
end

return M
