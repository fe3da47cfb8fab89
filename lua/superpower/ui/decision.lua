--- A window that decides something, and never by accident. Its keys work only with the cursor inside, only after a
--- quiet moment in which the window was shown and the editor was idle, and never from a macro. Keys that decide also
--- need a quiet moment directly before them. A key that comes too early restarts the moment. Closing the window
--- decides nothing.
local config = require("superpower.config")
local idle = require("superpower.editor.idle")
local float = require("superpower.ui.float")
local frame = require("superpower.ui.frame")
local keymaps = require("superpower.ui.keys")

---@class superpower.Decision
---@field float superpower.Float
---@field opts superpower.DecisionOpts
---@field watch superpower.Idle
---@field armed boolean the quiet moment has passed
---@field dead boolean
---@field closed boolean
---@field title? superpower.Chunk[] the title of the first question
---@field run_id? string in a dead window: the run that asked
---@field last? string[] in a dead window: the lines that it showed
local M = {}
M.__index = M

---@class superpower.DecisionKey : superpower.Key
---@field label? string for the footer
---@field always? boolean it works at once, and in a dead window too
---@field harmless? boolean it decides nothing yet, so another key may come directly before it

---@class superpower.DecisionOpts
---@field filetype string
---@field title superpower.Chunk[] left part
---@field right superpower.Chunk[] right part
---@field help string
---@field width integer at most
---@field height integer rows of its content; at most four fifths of the screen are used
---@field enter boolean
---@field zindex? integer
---@field keys superpower.DecisionKey[]
---@field closed fun() called once, however it was closed

---@return integer
local function delay()
  return config.get().gate.delay
end

local live = {} ---@type table<superpower.Decision, true>

--- Makes all windows wait for a quiet moment again, because a user interface was attached or detached: a new user has
--- not seen them.
function M.rearm_all()
  for this in pairs(live) do
    if this:is_open() then
      this:rearm()
    end
  end
end

--- Whether a window is open that can still decide. Another one is not opened above it.
---@return boolean
function M.any()
  for this in pairs(live) do
    if this:is_open() and not this.dead then
      return true
    end
  end
  return false
end

---@param opts superpower.DecisionOpts
---@return { row: integer, col: integer, width: integer, height: integer }
local function place_of(opts)
  local most = math.max(8, math.floor(float.screen().height * 0.8))
  return float.centre(float.wide(opts.width), math.min(opts.height, most))
end

---@param opts superpower.DecisionOpts
---@return superpower.Decision
function M.open(opts)
  local place = place_of(opts)
  local self = setmetatable({ opts = opts, armed = false, dead = false, closed = false }, M) --[[@as superpower.Decision]]
  self.float = float.open({
    filetype = opts.filetype,
    width = place.width,
    height = place.height,
    row = place.row,
    col = place.col,
    enter = opts.enter,
    zindex = opts.zindex or 60,
    wrap = true,
  })
  live[self] = true
  self:bind(opts.keys)
  self:frame()
  self:follow()
  frame.follow(self.float, function()
    self:frame()
  end)
  self.watch = idle.watch(function()
    self:beat()
  end)
  return self
end

---@param keys superpower.DecisionKey[]
function M:bind(keys)
  local wrapped = {}
  for _, key in ipairs(keys) do
    table.insert(wrapped, {
      lhs = key.lhs,
      desc = key.desc,
      fn = function()
        if key.always or (not self.dead and self:counts(key.harmless)) then
          key.fn()
        end
      end,
    })
  end
  keymaps.set(self.float.buf, self.opts.help, wrapped)
end

--- Whether a key counts now. If not, the window waits for a quiet moment again.
---@param harmless boolean?
---@return boolean
function M:counts(harmless)
  local machine = vim.fn.reg_executing() ~= "" or vim.fn.reg_recording() ~= ""
  if not self:inside() or machine or self.closed then
    return false
  end
  if self.armed and (harmless or self.watch.before >= delay()) then
    return true
  end
  self:rearm()
  return false
end

---@return boolean
function M:inside()
  return vim.api.nvim_get_current_win() == self.float.win
end

--- Handles a beat of the idle timer: arms the window after its quiet moment.
function M:beat()
  if not self:inside() then
    idle.reset(self.watch)
  elseif not self.armed and not self.dead and self.watch.idle >= delay() then
    self.armed = true
    self:frame()
  end
end

--- Makes the window wait for a quiet moment again, as after it opened.
function M:rearm()
  idle.reset(self.watch)
  self.armed = false
  self:frame()
end

--- Asks another question in the same window, with other keys; nil returns to the first question.
---@param question string?
---@param keys superpower.DecisionKey[]
function M:ask(question, keys)
  for _, key in ipairs(self.opts.keys) do
    pcall(vim.keymap.del, "n", key.lhs, { buffer = self.float.buf })
  end
  self.opts.keys = keys
  self.title = self.title or self.opts.title
  self.opts.title = question and { { " " .. question .. " ", "SuperpowerFailed" } } or self.title
  self:bind(keys)
  self:rearm()
end

--- Draws the title and the footer. The footer is dim while keys do not work.
function M:frame()
  if not float.valid(self.float) then
    return
  end
  local width = vim.api.nvim_win_get_width(self.float.win)
  local dim = not self.armed and not self.dead
  local shown = {}
  for _, key in ipairs(self.opts.keys) do
    if key.label and (not self.dead or key.always) then
      table.insert(shown, {
        lhs = key.lhs,
        label = key.label,
        group = dim and not key.always and "SuperpowerDim" or nil,
        label_group = dim and "SuperpowerDim" or nil,
      })
    end
  end
  local help = self.dead and {} or { { " g? ", dim and "SuperpowerDim" or "SuperpowerKey" } }
  frame.set(self.float, frame.edge(self.opts.title, self.opts.right, width), frame.footer(self.float, shown, help))
end

--- Shows the text of the question.
---@param lines superpower.Line[]
---@param full? boolean
function M:paint(lines, full)
  float.paint(self.float.buf, lines, full)
  self:frame()
end

--- Marks the window as dead, because it was decided elsewhere: it is dim, and only the keys that always work are left.
---@param lines superpower.Line[] shown above the old content
function M:die(lines)
  if not float.valid(self.float) then
    return
  end
  self.dead = true
  self.last = self.last or vim.api.nvim_buf_get_lines(self.float.buf, 0, -1, false)
  local all = vim.list_extend({}, lines)
  table.insert(all, { { "" } })
  for _, line in ipairs(self.last) do
    table.insert(all, { { line, "SuperpowerDim" } })
  end
  vim.api.nvim_buf_clear_namespace(self.float.buf, -1, 0, -1)
  self:paint(all, true)
end

function M:follow()
  local group = vim.api.nvim_create_augroup("superpower-decision-" .. self.float.win, { clear = true })
  vim.api.nvim_create_autocmd("WinClosed", {
    group = group,
    pattern = tostring(self.float.win),
    callback = function()
      vim.api.nvim_del_augroup_by_id(group)
      idle.forget(self.watch)
      live[self] = nil
      if not self.closed then
        self.closed = true
        self.opts.closed()
      end
    end,
  })
  vim.api.nvim_create_autocmd("VimResized", {
    group = group,
    callback = function()
      vim.schedule(function()
        self:place()
      end)
    end,
  })
end

--- Puts it where its size and the screen's want it.
---@param height? integer rows that it would fill from here on
function M:place(height)
  self.opts.height = height or self.opts.height
  if not float.valid(self.float) or not self:floats() then
    return
  end
  local place = place_of(self.opts)
  float.move(self.float, {
    filetype = "",
    width = place.width,
    height = place.height,
    row = place.row,
    col = place.col,
    zindex = self.opts.zindex or 60,
  })
  self:frame()
end

function M:close()
  float.close(self.float)
  idle.forget(self.watch) -- `WinClosed` does not fire inside a write
  live[self] = nil
end

--- Whether the window is still a float: `CTRL-W H` turns it into a split, which has no border for the keys.
---@return boolean
function M:floats()
  return vim.api.nvim_win_get_config(self.float.win).relative ~= ""
end

---@return boolean
function M:is_open()
  return not self.closed and float.valid(self.float)
end

return M
