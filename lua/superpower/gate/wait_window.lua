--- The window that is shown while a user waits for a slow comparison of files; `q` cancels it.
local actions = require("superpower.editor.actions")
local attention = require("superpower.editor.attention")
local float = require("superpower.ui.float")
local frame = require("superpower.ui.frame")

local M = {}

--- How long to wait before the window opens, in milliseconds: most comparisons are over by then.
local delay = 500

--- Shows the window until the request is answered or cancelled.
---@param request superpower.ReviewRequest
---@param cancel fun() called when the user presses `q`
---@return { close: fun() }
function M.show(request, cancel)
  local window ---@type superpower.Float?
  local function close()
    if window and float.valid(window) then
      float.close(window)
    end
    window = nil
  end
  vim.defer_fn(function()
    if request.over or vim.v.exiting ~= vim.NIL or not float.possible() then
      return
    end
    local words = "Looking at the files that have changed…"
    local place = float.centre(float.wide(60), 1)
    window = float.open({
      filetype = "superpower-looking",
      width = place.width,
      height = 1,
      row = place.row,
      col = place.col,
      zindex = 60,
    })
    float.paint(window.buf, { { { words } } })
    local title = frame.edge({ { " gate ", "SuperpowerTitle" } }, {}, place.width)
    frame.set(window, title, frame.footer(window, { { lhs = "q", label = "not now" } }, {}))
    vim.keymap.set("n", "q", function()
      close()
      cancel()
    end, { buffer = window.buf, nowait = true, desc = "give up looking; the gate stays open" })
    local function enter()
      if window and float.valid(window) then
        actions.enter(window.win)
      end
    end
    attention.when_quiet(enter, function() end)
  end, delay)
  return { close = close }
end

return M
