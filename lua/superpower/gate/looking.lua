--- What is shown while a look at the files takes its time and somebody waits for it: `q` gives it up.
local actions = require("superpower.editor.actions")
local attention = require("superpower.editor.attention")
local float = require("superpower.ui.float")
local frame = require("superpower.ui.frame")

local M = {}

--- Shorter than this nobody waits.
local soon = 500

--- Shows that a look is being taken, until it is over.
---@param look superpower.Look
---@param given_up fun() `q` was pressed
---@return { close: fun() }
function M.wait(look, given_up)
  local window ---@type superpower.Float?
  local function close()
    if window and float.valid(window) then
      float.close(window)
    end
    window = nil
  end
  vim.defer_fn(function()
    if look.over or vim.v.exiting ~= vim.NIL or not float.possible() then
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
      given_up()
    end, { buffer = window.buf, nowait = true, desc = "give up looking; the gate stays open" })
    local function enter()
      if window and float.valid(window) then
        actions.enter(window.win)
      end
    end
    attention.when_quiet(enter, function() end)
  end, soon)
  return { close = close }
end

return M
