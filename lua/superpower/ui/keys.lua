--- The keys of our windows: set in one buffer, described, and listed by `g?`.
local float = require("superpower.ui.float")
local frame = require("superpower.ui.frame")

local M = {}

---@class superpower.Key
---@field lhs string
---@field desc string
---@field fn fun()

--- A mapping of `g` that does not wait for 'timeoutlen', and leaves `g?` and `gg` as they are.
---@param key superpower.Key
---@param help fun()
---@return fun()
local function g_mapping(key, help)
  return function()
    local next_key = ""
    vim.wait(250, function()
      next_key = vim.fn.getcharstr(0)
      return next_key ~= ""
    end, 10)
    if next_key == "?" then
      help()
    elseif next_key == "g" then
      vim.cmd("normal! gg")
    else
      key.fn()
      vim.api.nvim_feedkeys(next_key, "t", false)
    end
  end
end

---@param buf integer
---@param title string
---@param keys superpower.Key[]
function M.set(buf, title, keys)
  local function help()
    M.help(title, keys)
  end
  local taken = false
  for _, key in ipairs(keys) do
    local fn = key.lhs == "g" and g_mapping(key, help) or key.fn
    taken = taken or key.lhs == "g"
    vim.keymap.set("n", key.lhs, fn, { buffer = buf, nowait = true, silent = true, desc = key.desc })
  end
  if taken then -- a mapping of `g?` would make `g` wait
    return
  end
  vim.keymap.set("n", "g?", help, { buffer = buf, nowait = true, silent = true, desc = "Show these keys" })
end

--- Opens a float that lists the keys.
---@param title string
---@param keys superpower.Key[]
function M.help(title, keys)
  local lines, width = {}, 30
  for _, key in ipairs(vim.list_extend(vim.list_extend({}, keys), { { lhs = "g?", desc = "show these keys" } })) do
    local line = (" %-8s %s "):format(key.lhs, key.desc)
    width = math.max(width, vim.api.nvim_strwidth(line))
    table.insert(lines, { { line:sub(1, 10), "SuperpowerKey" }, { line:sub(11) } })
  end
  local place = float.centre(width, #lines)
  local help = float.open({
    filetype = "superpower-help",
    width = place.width,
    height = place.height,
    row = place.row,
    col = place.col,
    enter = true,
    zindex = 80,
  })
  float.paint(help.buf, lines)
  frame.set(
    help,
    frame.edge({ { " " .. title .. " ", "SuperpowerTitle" } }, {}, place.width),
    frame.edge({}, { { " q close ", "SuperpowerKey" } }, place.width)
  )
  for _, lhs in ipairs({ "q", "<Esc>", "g?" }) do
    vim.keymap.set("n", lhs, function()
      float.close(help)
    end, { buffer = help.buf, nowait = true, silent = true, desc = "Close" })
  end
  vim.api.nvim_create_autocmd("WinLeave", {
    buffer = help.buf,
    once = true,
    callback = function()
      vim.schedule(function()
        float.close(help)
      end)
    end,
  })
end

return M
