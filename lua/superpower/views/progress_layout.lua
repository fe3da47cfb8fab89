--- Computes where the progress window is: at the right, or at the bottom and away from the cursor.
local config = require("superpower.config")
local float = require("superpower.ui.float")

local M = {}

local above = false -- at the top, because the cursor is at the bottom

--- Returns the row of a window that avoids the cursor. It moves only when the cursor is in its way.
---@param height integer
---@param screen { height: integer, top: integer }
---@return integer row
local function row_for(height, screen)
  local bottom = screen.top + screen.height - height - 2
  local win = vim.api.nvim_get_current_win()
  if vim.api.nvim_win_get_config(win).relative == "" then
    local row = vim.api.nvim_win_get_position(win)[1] + vim.fn.winline() - 1
    local under_bottom, under_top = row >= bottom, row < screen.top + height + 2
    above = under_bottom and (above or not under_top) or (above and not under_top)
  end
  return above and screen.top or bottom
end

--- Whether a window is one of our splits that the user reads or writes in: a log, an output, a manual stage.
---@param win integer
---@return boolean
local function is_read(win)
  local buf = vim.api.nvim_win_get_buf(win)
  return vim.api.nvim_buf_get_name(buf):match("^superpower://") ~= nil
    and vim.bo[buf].filetype ~= "superpower-progress"
    and vim.api.nvim_win_get_config(win).relative == ""
end

--- Returns the rows above or below the windows that the user reads, or all rows if there are none.
---@return { width: integer, height: integer, top: integer } screen, boolean reads
local function free()
  local screen = float.screen()
  local top, bottom = screen.top, screen.top + screen.height
  local reads = false
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if is_read(win) then
      reads = true
      local first = vim.api.nvim_win_get_position(win)[1]
      local last = first + vim.api.nvim_win_get_height(win) -- its status line
      if first - 1 - top >= bottom - last then
        bottom = math.min(bottom, first - 1)
      else
        top = math.max(top, last + 1)
      end
    end
  end
  return { width = screen.width, height = bottom - top, top = top }, reads
end

---@param run superpower.Snapshot
---@return superpower.FloatOpts opts, boolean split
function M.of(run)
  local options = config.get()
  local screen, reads = free()
  local position = options.progress.position
  if position == "right" and screen.width < 100 then
    position = "bottom"
  end
  local opts = { filetype = "superpower-progress", zindex = 40, width = 1, height = 1, row = 0, col = 0 }
  local wanted = #run.stages + 4
  if position == "right" then
    opts.width = math.min(options.progress.width, screen.width - 2)
    opts.height = math.max(1, math.min(wanted, screen.height - 2))
    opts.row, opts.col = screen.top, screen.width - opts.width - 2
  else
    opts.width = screen.width - 2
    local most = reads and screen.height - 2 or math.floor(screen.height / 2) - 2
    opts.height = math.max(1, math.min(wanted, options.progress.height, most))
    opts.row, opts.col = row_for(opts.height, screen), 0
  end
  opts.hide = reads and screen.height < 4
  return opts, position == "split"
end

--- Whether the window is at the top, because the cursor is at the bottom.
---@return boolean
function M.above()
  return above
end

return M
