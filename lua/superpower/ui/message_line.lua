--- Whether a message stands in the last line. With `cmdheight=0` it stands where the status line is, and Neovim draws that
--- over it as soon as anything of ours is drawn: then nothing is, until the message is gone. Nothing says that a message
--- stands; it shows in the colour of the line's first cell, which is not what it was when we drew last.
local notify = require("superpower.notify")

local M = {}

--- How long a line in another colour counts as a message, in milliseconds: one that `:messages` has, and another one, which
--- may be the status line. A key that is typed ends it: who types has seen it.
local longest, unknown = 30000, 5000

local namespace = vim.api.nvim_create_namespace("superpower-message")
local clean ---@type integer? the colour when we drew last
local since ---@type number? when it was first another one
local typed = false -- since then

local function over()
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
local function kept()
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
    return true -- it asks for a key
  elseif not possible() or not clean or vim.fn.screenattr(vim.o.lines, 1) == clean then
    if since then
      over()
    end
    return false
  elseif not since then
    since = vim.uv.now()
    vim.on_key(function(_, key)
      typed = typed or key ~= ""
    end, namespace)
  end
  local time = vim.uv.now() - since
  return not typed and (time < unknown or (time < longest and kept()))
end

--- Something of ours has changed: it is drawn now, and what stands in the last line then is no message.
function M.redrawn()
  if possible() and vim.api.nvim_get_mode().mode:find("^[nvi]") then
    vim.cmd.redraw()
    clean = vim.fn.screenattr(vim.o.lines, 1)
    if since then
      over()
    end
  end
end

return M
