--- The border of our windows: a title, the keys, and how many lines are below.
local text = require("superpower.base.text")
local float = require("superpower.ui.float")

local M = {}

--- Builds a border line: chunks at the left, chunks at the right, and the border between them.
---@param left superpower.Chunk[]
---@param right superpower.Chunk[]
---@param width integer
---@return superpower.Chunk[]
function M.edge(left, right, width)
  local _, fill = float.border()
  local used = 0
  for _, side in ipairs({ left, right }) do
    for _, chunk in ipairs(side) do
      used = used + text.width(chunk[1])
    end
  end
  local out = vim.list_extend({}, left)
  if used < width then
    table.insert(out, { fill:rep(width - used), "SuperpowerBorder" })
    vim.list_extend(out, right)
  elseif #left == 0 then
    vim.list_extend(out, right)
  end
  return out
end

--- Builds the key part of a footer. If there is no room, the labels of the last keys are left out first.
---@param keys { lhs: string, label?: string, group?: string, label_group?: string }[]
---@param width integer
---@return superpower.Chunk[]
function M.keys(keys, width)
  local labelled = #keys
  while true do
    local out, used = {}, 0
    for index, key in ipairs(keys) do
      local words = key.label and (index <= labelled and " " .. key.label .. " " or "") or nil
      if words then
        table.insert(out, { " " .. key.lhs, key.group or "SuperpowerKey" })
        table.insert(out, { words, key.label_group or "SuperpowerFooter" })
        used = used + text.width(key.lhs) + 1 + text.width(words)
      end
    end
    if used <= width or labelled == 0 then
      if labelled < #keys and used < width then
        table.insert(out, { " ", "SuperpowerFooter" })
      end
      return out
    end
    labelled = labelled - 1
  end
end

---@class superpower.Frame
---@field title superpower.Chunk[]
---@field footer superpower.Chunk[]
---@field floats boolean whether it was a float when last drawn
---@field width? integer
---@field redraw? fun() draws it again for another width

local frames = {} ---@type table<integer, superpower.Frame> by window
local watching = false

---@param chunks superpower.Chunk[]
---@return integer
function M.cells(chunks)
  local cells = 0
  for _, chunk in ipairs(chunks) do
    cells = cells + text.width(chunk[1])
  end
  return cells
end

---@param chunks superpower.Chunk[]
---@return superpower.Chunk[]
local function without_border(chunks)
  return vim.tbl_filter(function(chunk)
    return chunk[2] ~= "SuperpowerBorder"
  end, chunks)
end

--- Builds a winbar with title and keys, for a window that is not a float. The keys matter most: the title gets the
--- remaining room.
---@param win integer
---@param frame superpower.Frame
---@return string
local function bar(win, frame)
  local keys = without_border(frame.footer)
  local room = vim.api.nvim_win_get_width(win) - M.cells(keys)
  local out = {}
  local function add(words, group)
    table.insert(out, ("%%#%s#%s"):format(group or "SuperpowerTitle", (words:gsub("%%", "%%%%"))))
  end
  for _, chunk in ipairs(without_border(frame.title)) do
    local words = text.cut(chunk[1], math.max(0, room))
    room = room - text.width(words)
    add(words, chunk[2])
  end
  table.insert(out, "%#SuperpowerNormal#%=")
  for _, chunk in ipairs(keys) do
    add(chunk[1], chunk[2])
  end
  return table.concat(out)
end

---@param win integer
---@param frame superpower.Frame
local function draw(win, frame)
  local config = vim.api.nvim_win_get_config(win)
  frame.floats = config.relative ~= ""
  local set = { win = win, scope = "local" }
  if not frame.floats then
    vim.api.nvim_set_option_value("winbar", bar(win, frame), set)
    return
  elseif vim.wo[win].winbar ~= "" then
    vim.api.nvim_set_option_value("winbar", "", set)
  end
  if config.border then
    vim.api.nvim_win_set_config(win, {
      title = #frame.title > 0 and frame.title or "",
      title_pos = "left",
      footer = #frame.footer > 0 and frame.footer or "",
      footer_pos = "left",
    })
  end
end

--- Watches for floats that become splits (`CTRL-W H`): no event reports it. A split has no border, so title and keys
--- move to its 'winbar'.
local function watch()
  if watching then
    return
  end
  watching = true
  vim.api.nvim_create_autocmd("SafeState", {
    group = vim.api.nvim_create_augroup("superpower-frames", { clear = true }),
    callback = function()
      for win, frame in pairs(frames) do
        if not vim.api.nvim_win_is_valid(win) then
          frames[win] = nil
        elseif frame.floats ~= (vim.api.nvim_win_get_config(win).relative ~= "") then
          draw(win, frame)
          if frame.redraw then
            frame.redraw()
          end
          vim.cmd.redraw()
        end
      end
      watching = next(frames) ~= nil
      return not watching
    end,
  })
end

---@param window superpower.Float
---@param title superpower.Chunk[]
---@param footer superpower.Chunk[]
function M.set(window, title, footer)
  local was = frames[window.win]
  local frame = { title = title, footer = footer, floats = true, redraw = was and was.redraw or nil }
  frames[window.win] = frame
  local floats = vim.api.nvim_win_get_config(window.win).relative ~= ""
  local width = vim.api.nvim_win_get_width(window.win)
  frame.width = width
  if
    was
    and was.floats == floats
    and was.width == width
    and vim.deep_equal(was.title, title)
    and vim.deep_equal(was.footer, footer)
  then
    frame.floats = floats
    return
  end
  draw(window.win, frame)
  watch()
end

--- Builds the footer of a window: its keys at the left; the number of lines below and `g?` at the right.
---@param window superpower.Float
---@param keys { lhs: string, label?: string, group?: string, label_group?: string }[]
---@param help superpower.Chunk[]
---@return superpower.Chunk[]
function M.footer(window, keys, help)
  local width = vim.api.nvim_win_get_width(window.win)
  local right = vim.list_extend(M.more(window), help)
  return M.edge(M.keys(keys, width - M.cells(right)), right, width)
end

--- Returns `↓ 12 more` if the window does not show its text to the end.
---@param window superpower.Float
---@return superpower.Chunk[]
function M.more(window)
  local last = vim.fn.line("w$", window.win)
  local rest = vim.api.nvim_buf_line_count(window.buf) - last
  if last == 0 or rest <= 0 then
    return {}
  end
  local wide = vim.api.nvim_win_get_width(window.win) >= 70
  return { { (wide and " ↓ %d more " or " ↓ %d "):format(rest), "SuperpowerNote" } }
end

--- Calls `redraw` when the window is scrolled or becomes a split.
---@param window superpower.Float
---@param redraw fun()
function M.follow(window, redraw)
  if frames[window.win] then
    frames[window.win].redraw = redraw
  end
  vim.api.nvim_create_autocmd("WinScrolled", { -- deleted with the buffer
    buffer = window.buf,
    callback = function()
      if float.valid(window) then
        redraw()
      end
    end,
  })
end

return M
