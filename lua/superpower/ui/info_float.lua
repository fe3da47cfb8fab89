--- A page to read while a question is asked: a float that takes neither the focus nor keys.
local text = require("superpower.base.text")
local float = require("superpower.ui.float")
local frame = require("superpower.ui.frame")

local M = {}

---@param title string
---@param lines string[]
---@return { close: fun() }
function M.open(title, lines)
  local width = math.max(40, text.width(title) + 4)
  for _, line in ipairs(lines) do
    width = math.max(width, text.width(line) + 1)
  end
  local place = float.centre(math.min(width, 90), #lines)
  local window = float.open({
    filetype = "superpower-sheet",
    width = place.width,
    height = place.height,
    row = place.row,
    col = place.col,
    zindex = 60,
    wrap = true,
  })
  local chunks = vim.tbl_map(function(line)
    return { { line } }
  end, lines)
  float.paint(window.buf, chunks)
  frame.set(
    window,
    frame.edge({ { " " .. text.cut(title, place.width - 4) .. " ", "SuperpowerTitle" } }, {}, place.width),
    {}
  )
  vim.cmd.redraw()
  return {
    close = function()
      float.close(window)
    end,
  }
end

return M
