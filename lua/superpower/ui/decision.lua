--- A window that decides something, and never by accident. Its keys count only with the cursor inside, only after a
--- quiet moment since it opened, and never from a macro. A key that comes too early starts the moment anew. Closing it by
--- whatever means decides nothing.
local float = require("superpower.ui.float")

local M = {}
M.__index = M

---@class superpower.DecisionKey : superpower.Key
---@field label? string in the foot
---@field always? boolean counts at once, and also when the window is dead

---@class superpower.DecisionOpts
---@field filetype string
---@field title superpower.Chunk[] left part
---@field right superpower.Chunk[] right part
---@field help string
---@field width integer
---@field height integer
---@field enter boolean
---@field zindex? integer
---@field keys superpower.DecisionKey[]
---@field closed fun() called once, however it was closed

---@class superpower.Decision
---@field float superpower.Float
---@field opts superpower.DecisionOpts
---@field quiet integer ms still to wait
---@field dead boolean
---@field closed boolean
---@field title? superpower.Chunk[] the first question
local step = 50

---@return integer
local function delay()
  return require("superpower.config").get().gate.delay
end

---@param opts superpower.DecisionOpts
---@return superpower.Decision
function M.open(opts)
  local place = float.centre(opts.width, opts.height)
  local self = setmetatable({ opts = opts, quiet = delay(), dead = false, closed = false }, M)
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
  self:bind(opts.keys)
  self:frame()
  self:follow()
  self:arm()
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
        if key.always or (self:counts() and not self.dead) then
          key.fn()
        end
      end,
    })
  end
  require("superpower.ui.keys").set(self.float.buf, self.opts.help, wrapped)
end

--- Whether a key counts now. One that does not makes the window wait for quiet again.
---@return boolean
function M:counts()
  local inside = vim.api.nvim_get_current_win() == self.float.win
  local machine = vim.fn.reg_executing() ~= "" or vim.fn.reg_recording() ~= ""
  if not inside or machine or self.closed then
    return false
  end
  if self.quiet > 0 then
    self.quiet = delay()
    return false
  end
  return true
end

--- Waits in short steps, so that keys which piled up while the editor was held up come before the end of the wait.
function M:arm()
  vim.defer_fn(function()
    if self.closed or self.dead or vim.v.exiting ~= vim.NIL then
      return
    end
    self.quiet = self.quiet - step
    if self.quiet > 0 then
      self:arm()
    else
      self:frame()
    end
  end, step)
end

--- Makes it wait again, as after its opening: for a second question in the same window.
function M:rearm()
  local waiting = self.quiet > 0
  self.quiet = delay()
  if not waiting then
    self:arm()
  end
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
  local dim = self.quiet > 0
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
  local foot = float.foot(shown, width)
  local help = self.dead and {} or { { " g? ", dim and "SuperpowerDim" or "SuperpowerKey" } }
  float.frame(self.float, float.edge(self.opts.title, self.opts.right, width), float.edge(foot, help, width))
end

--- It was decided elsewhere: dim, and only the keys that always count are left.
---@param lines superpower.Line[] said above what is there
function M:die(lines)
  if self.dead or not float.valid(self.float) then
    return
  end
  self.dead = true
  local old = vim.api.nvim_buf_get_lines(self.float.buf, 0, -1, false)
  local all = vim.list_extend({}, lines)
  table.insert(all, { { "" } })
  for _, line in ipairs(old) do
    table.insert(all, { { line, "SuperpowerDim" } })
  end
  vim.api.nvim_buf_clear_namespace(self.float.buf, -1, 0, -1)
  float.paint(self.float.buf, all)
  self.quiet = 0
  self:frame()
end

function M:follow()
  local group = vim.api.nvim_create_augroup("superpower-decision-" .. self.float.win, { clear = true })
  vim.api.nvim_create_autocmd("WinClosed", {
    group = group,
    pattern = tostring(self.float.win),
    callback = function()
      vim.api.nvim_del_augroup_by_id(group)
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
        if float.valid(self.float) then
          local place = float.centre(self.opts.width, self.opts.height)
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
      end)
    end,
  })
end

function M:close()
  float.close(self.float)
end

---@return boolean
function M:is_open()
  return not self.closed and float.valid(self.float)
end

return M
