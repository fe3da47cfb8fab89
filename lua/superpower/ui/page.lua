--- A page in the middle of the editor that the user asked for: it has the focus, `q` closes it, more keys as given.
local float = require("superpower.ui.float")
local text = require("superpower.ui.text")

local M = {}

---@class superpower.PageOpts
---@field title string
---@field right? string
---@field filetype string
---@field lines superpower.Line[]
---@field keys? superpower.DecisionKey[] with labels for the foot
---@field row? integer where the cursor starts
---@field wrap? boolean

---@param line superpower.Line
---@return integer
function M.cells(line)
  local cells = 0
  for _, chunk in ipairs(line) do
    cells = cells + text.width(chunk[1])
  end
  return cells
end

--- How many rows lines fill where they are wrapped at words.
---@param lines superpower.Line[]
---@param width integer
---@return integer
function M.rows(lines, width)
  local rows = 0
  for _, line in ipairs(lines) do
    rows = rows + math.max(1, math.ceil(M.cells(line) / width))
  end
  return rows
end

---@param opts superpower.PageOpts
---@return superpower.Float
function M.open(opts)
  local width = math.max(50, text.width(opts.title) + 6)
  for _, line in ipairs(opts.lines) do
    width = math.max(width, M.cells(line) + 1)
  end
  local place = float.centre(math.min(width, 100), math.max(1, #opts.lines))
  local window = float.open({
    filetype = opts.filetype,
    width = place.width,
    height = place.height,
    row = place.row,
    col = place.col,
    enter = true,
    zindex = 60,
    wrap = opts.wrap,
  })
  vim.api.nvim_set_option_value("cursorline", opts.keys ~= nil, { win = window.win, scope = "local" })
  float.paint(window.buf, opts.lines)
  local keys = vim.list_extend({}, opts.keys or {})
  local foot = float.foot(keys, place.width)
  table.insert(keys, {
    lhs = "q",
    desc = "close",
    fn = function()
      float.close(window)
    end,
  })
  table.insert(keys, { lhs = "<Esc>", desc = "close", fn = keys[#keys].fn })
  require("superpower.ui.keys").set(window.buf, opts.title, keys)
  local right = opts.right and { { " " .. text.line(opts.right) .. " ", "SuperpowerTitle" } } or {}
  float.frame(
    window,
    float.edge(
      { { " " .. text.cut(text.line(opts.title), place.width - 4) .. " ", "SuperpowerTitle" } },
      right,
      place.width
    ),
    float.edge(foot, { { " q", "SuperpowerKey" }, { " close ", "SuperpowerFooter" } }, place.width)
  )
  if opts.row then
    pcall(vim.api.nvim_win_set_cursor, window.win, { opts.row, 0 })
  end
  return window
end

return M
