--- Tells whether the last line shows a message. With `cmdheight=0` a message takes the place of the status line, and
--- Neovim overwrites it as soon as anything of ours is drawn. So nothing is drawn until the message is gone. No event
--- reports a message; it shows in the colour of the line's first cell, which differs from the colour when we drew
--- last.
local notify = require("superpower.notify")

local M = {}

--- How long a line in another colour counts as a message, in milliseconds: first one that `:messages` has, then one
--- that may be the status line. A typed key ends it: the user has seen it.
local max_known, max_unknown = 30000, 5000

local namespace = vim.api.nvim_create_namespace("superpower-message")
local clean ---@type integer? the colour at our last redraw
local since ---@type number? when the colour was first different
local typed = false -- a key was typed since then

local function reset()
  since, typed = nil, false
  vim.on_key(nil, namespace)
end

---@return boolean
local function possible()
  if vim.o.cmdheight > 0 or notify.in_windows() then
    return false
  end
  for _, ui in ipairs(vim.api.nvim_list_uis()) do
    if ui.ext_messages then
      return false
    end
  end
  return true
end

---@return boolean
local function in_history()
  local cells = {}
  for column = 1, vim.o.columns do
    cells[column] = vim.fn.screenstring(vim.o.lines, column)
  end
  local shown = vim.trim(table.concat(cells))
  local all = vim.trim(vim.fn.execute("messages"))
  local last = vim.trim(all:match("[^\n]*$") or "")
  return shown ~= "" and vim.startswith(last, (shown:gsub("%.%.%..*$", "")))
end

---@return boolean
function M.is_shown()
  if vim.api.nvim_get_mode().mode:find("^r") then
    return true -- a prompt
  elseif not possible() or not clean or vim.fn.screenattr(vim.o.lines, 1) == clean then
    if since then
      reset()
    end
    return false
  elseif not since then
    since = vim.uv.now()
    vim.on_key(function(_, key)
      typed = typed or key ~= ""
    end, namespace)
  end
  local time = vim.uv.now() - since
  return not typed and (time < max_unknown or (time < max_known and in_history()))
end

--- Redraws after a change of ours. What the last line shows then is not a message.
function M.redrawn()
  if possible() and vim.api.nvim_get_mode().mode:find("^[nvi]") then
    vim.cmd.redraw()
    clean = vim.fn.screenattr(vim.o.lines, 1)
    if since then
      reset()
    end
  end
end

return M
