--- A page in the middle of the editor that the user asked for: it has the focus, `q` closes it, and it may have more
--- keys.
local text = require("superpower.base.text")
local float = require("superpower.ui.float")
local frame = require("superpower.ui.frame")
local keymaps = require("superpower.ui.keys")

---@class superpower.Page
---@field float superpower.Float
---@field opts superpower.PageOpts
---@field footer { lhs: string, label?: string }[]
local M = {}
M.__index = M

---@class superpower.PageOpts
---@field title string
---@field right? string
---@field filetype string
---@field lines superpower.Line[]|fun(width: integer): superpower.Line[] for the available width
---@field keys? superpower.DecisionKey[] with labels for the footer
---@field row? integer where the cursor starts
---@field wrap? boolean
---@field width? integer at least
---@field over? superpower.Page the page that this one is opened from and covers

local max_width = 100

--- Returns how many rows lines take if they are wrapped at words.
---@param lines superpower.Line[]
---@param width integer
---@return integer
function M.rows(lines, width)
  local rows = 0
  for _, line in ipairs(lines) do
    rows = rows + math.max(1, math.ceil(frame.cells(line) / width))
  end
  return rows
end

---@return superpower.Line[] lines, { row: integer, col: integer, width: integer, height: integer } place
function M:layout()
  local opts = self.opts
  local most = math.min(max_width, float.screen().width - 2)
  local lines = type(opts.lines) == "function" and opts.lines(most) or opts.lines --[[@as superpower.Line[] ]]
  local width = math.max(50, opts.width or 0, text.width(opts.title) + text.width(opts.right or "") + 8)
  for _, line in ipairs(lines) do
    width = math.max(width, frame.cells(line) + (opts.wrap and 2 or 1)) -- wrapped text has a margin
  end
  width = math.min(float.wide(width), most)
  local height = math.max(1, M.rows(lines, opts.wrap and width - 1 or math.huge))
  if opts.over and opts.over:is_open() then
    width = math.max(width, vim.api.nvim_win_get_width(opts.over.float.win))
    height = math.max(height, vim.api.nvim_win_get_height(opts.over.float.win))
  end
  return lines, float.centre(width, height)
end

function M:frame()
  local width = vim.api.nvim_win_get_width(self.float.win)
  local right = self.opts.right and { { " " .. text.line(self.opts.right) .. " ", "SuperpowerNote" } } or {}
  local title = text.cut(text.line(self.opts.title), width - frame.cells(right) - 4)
  frame.set(
    self.float,
    frame.edge({ { " " .. title .. " ", "SuperpowerTitle" } }, right, width),
    frame.footer(self.float, self.footer, { { " g? ", "SuperpowerKey" } })
  )
end

--- Lays the page out again, because its content or the screen has changed.
function M:refresh()
  if not float.valid(self.float) then
    return
  end
  local lines, place = self:layout()
  if vim.api.nvim_win_get_config(self.float.win).relative ~= "" then
    float.move(self.float, vim.tbl_extend("force", place, { filetype = self.opts.filetype, zindex = 60 }))
  end
  local view = vim.api.nvim_win_call(self.float.win, vim.fn.winsaveview)
  float.paint(self.float.buf, lines)
  vim.api.nvim_win_call(self.float.win, function()
    vim.fn.winrestview(view)
  end)
  self:frame()
end

---@return boolean
function M:is_open()
  return float.valid(self.float)
end

function M:close()
  float.close(self.float)
end

---@return integer
function M:row()
  return vim.api.nvim_win_get_cursor(self.float.win)[1]
end

---@param opts superpower.PageOpts
---@return superpower.Page
function M.open(opts)
  local self = setmetatable({ opts = opts }, M) --[[@as superpower.Page]]
  local lines, place = self:layout()
  self.float = float.open(vim.tbl_extend("force", place, {
    filetype = opts.filetype,
    enter = true,
    zindex = 60,
    wrap = opts.wrap,
  }))
  vim.api.nvim_set_option_value("cursorline", opts.keys ~= nil, { win = self.float.win, scope = "local" })
  float.paint(self.float.buf, lines)
  local function close()
    self:close()
  end
  local keys = vim.list_extend({}, opts.keys or {})
  table.insert(keys, { lhs = "q", label = "close", desc = "close", fn = close })
  self.footer = vim.list_extend({}, keys)
  table.insert(keys, { lhs = "<Esc>", desc = "close", fn = close })
  keymaps.set(self.float.buf, opts.title, keys)
  if opts.row then
    pcall(vim.api.nvim_win_set_cursor, self.float.win, { opts.row, 0 })
  end
  self:frame()
  frame.follow(self.float, function()
    self:frame()
  end)
  local resized = vim.api.nvim_create_autocmd("VimResized", {
    callback = function()
      vim.schedule(function()
        self:refresh()
      end)
    end,
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = self.float.buf,
    callback = function()
      vim.api.nvim_del_autocmd(resized)
    end,
  })
  return self
end

return M
