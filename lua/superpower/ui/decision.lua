--- A window that decides something, and never by accident. Its keys count only with the cursor inside, only after a
--- quiet moment in which it was shown and the editor waited for a key, and never from a macro; those that decide only if
--- no other key came in the moment before. A key that comes too early starts the moment anew. Closing it by whatever
--- means decides nothing.
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
---@field title? superpower.Chunk[] what was asked first
---@field run_id? string of a dead one: the run that asked
---@field last? string[] of a dead one: what it showed
local M = {}
M.__index = M

---@class superpower.DecisionKey : superpower.Key
---@field label? string for the foot
---@field always? boolean it counts at once, and in a dead window too
---@field harmless? boolean it decides nothing yet: once keys count at all, another key may come right before it

---@class superpower.DecisionOpts
---@field filetype string
---@field title superpower.Chunk[] left part
---@field right superpower.Chunk[] right part
---@field help string
---@field width integer at most
---@field height integer rows that it would fill; it gets four fifths of the screen at most
---@field enter boolean
---@field zindex? integer
---@field keys superpower.DecisionKey[]
---@field closed fun() called once, however it was closed

---@return integer
local function delay()
  return config.get().gate.delay
end

local live = {} ---@type table<superpower.Decision, true>

--- A user interface has come or gone: whoever looks now has not seen these windows, and they wait for quiet again.
function M.anew()
  for this in pairs(live) do
    if this:is_open() then
      this:rearm()
    end
  end
end

--- Whether one is open that can still decide: another is not put above it.
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

--- Whether a key counts now. One that does not makes the window wait for quiet again.
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

--- The editor waits for a key.
function M:beat()
  if not self:inside() then
    idle.reset(self.watch)
  elseif not self.armed and not self.dead and self.watch.idle >= delay() then
    self.armed = true
    self:frame()
  end
end

--- Makes it wait again, as after its opening: for a second question in the same window.
function M:rearm()
  idle.reset(self.watch)
  self.armed = false
  self:frame()
end

--- Asks something else in the same window, with other keys; nil asks the first thing again.
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

--- Draws the title and the foot; the foot is dim while keys do not count.
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
  frame.set(self.float, frame.edge(self.opts.title, self.opts.right, width), frame.below(self.float, shown, help))
end

--- Shows what the question is about.
---@param lines superpower.Line[]
---@param anew? boolean
function M:paint(lines, anew)
  float.paint(self.float.buf, lines, anew)
  self:frame()
end

--- It was decided elsewhere: dim, and only the keys that always count are left.
---@param lines superpower.Line[] said above what is there
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
  idle.forget(self.watch) -- from inside a write no `WinClosed` says so
  live[self] = nil
end

--- Whether it still is a float: `CTRL-W H` makes a split of it, which has no place for the keys.
---@return boolean
function M:floats()
  return vim.api.nvim_win_get_config(self.float.win).relative ~= ""
end

---@return boolean
function M:is_open()
  return not self.closed and float.valid(self.float)
end

return M
