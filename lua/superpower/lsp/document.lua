--- A declaration in a buffer: its text goes to the engine when it changes, and its problems come back.
---
--- Neovim's own change tracking is not used: the server is in the same process, so it reads the buffer when it needs
--- the text, once per turn of the main loop however many lines changed.
local engine = require("superpower.engine")
local parts = require("superpower.lsp.parts")
local text = require("superpower.lsp.text")
local notify = require("superpower.notify")

---@class superpower.lsp.Document
---@field buf integer
---@field path string
---@field uri string
---@field root? string
---@field tick? integer the change that the engine has read
---@field published? integer the change whose problems are shown
---@field pending? integer the change that the engine is reading
---@field waiting fun(fine: boolean)[] callbacks for when the engine has read the text
---@field publish fun(document: superpower.lsp.Document, diagnostics: table[])
---@field timer? uv.uv_timer_t
---@field calm? uv.uv_timer_t
---@field due boolean
---@field closed boolean
local Document = {}
Document.__index = Document

--- A longer text is read and sent only after a pause in typing, since that alone takes a part of a frame.
local LARGE = 96 * 1024
--- A longer text cannot be a declaration, and is not sent.
local TOO_LARGE = 1024 * 1024
--- The pause in typing, in milliseconds.
local PAUSE = 80

---@param buf integer
---@param root? string
---@param publish fun(document: superpower.lsp.Document, diagnostics: table[])
---@return superpower.lsp.Document
function Document.new(buf, root, publish)
  local self = setmetatable({
    buf = buf,
    root = root,
    path = vim.api.nvim_buf_get_name(buf),
    uri = vim.uri_from_bufnr(buf),
    waiting = {},
    publish = publish,
    due = false,
    closed = false,
  }, Document)
  local function changed()
    if self.closed then
      return true
    end
    self:changed()
  end
  vim.api.nvim_buf_attach(buf, false, { on_lines = changed, on_reload = changed })
  return self
end

--- Returns what the engine gets about the buffer, without its text.
---@return table
function Document:fields()
  local fields = { root = self.root, path = self.path, tick = vim.api.nvim_buf_get_changedtick(self.buf) }
  local encoding = vim.bo[self.buf].fileencoding
  fields.encoding = encoding ~= "" and encoding ~= "utf-8" and encoding or nil
  local bytes = text.size(self.buf)
  if bytes > TOO_LARGE + 1 then
    fields.bytes, fields.text = bytes, ""
  end
  return fields
end

local reported = {} ---@type table<string, true>

--- Reports an error once, which would otherwise appear at every key.
---@param err superpower.Error
local function report(err)
  if not reported[err.message] then
    reported[err.message] = true
    notify.engine_error(err)
  end
end

---@param fine boolean
function Document:resume(fine)
  local waiting = self.waiting
  self.waiting = {}
  for _, callback in ipairs(waiting) do
    callback(fine)
  end
end

--- Has the engine read the current text, unless it has already.
---@param force? boolean read it in any case
function Document:check(force)
  self.due = false
  if self.closed or not vim.api.nvim_buf_is_loaded(self.buf) then
    return self:resume(false)
  end
  local tick = vim.api.nvim_buf_get_changedtick(self.buf)
  if not force and (self.tick == tick or self.pending == tick) then
    return
  elseif self.tick ~= tick then
    self.tick = nil
  end
  self.pending = nil
  local fields = self:fields()
  if not fields.text and self:is_long() then
    self.pending = tick
    return parts.send(self.buf, fields, function(answer, err)
      self:answered(answer, err)
    end)
  end
  fields.text = fields.text or text.of(self.buf)
  self:answered(parts.call("document", fields))
end

---@param answer? { tick: integer, diagnostics: table[]?, pending: boolean? }
---@param err? superpower.Error
function Document:answered(answer, err)
  if not answer then
    self.pending = nil
    report(assert(err))
    self:resume(false)
  elseif answer.pending then
    self.pending = answer.tick
  else
    self:arrived(answer)
  end
end

--- Whether reading and showing it takes a part of a frame.
---@return boolean
function Document:is_long()
  return text.size(self.buf) > LARGE
end

--- What the engine says of a text. Of one that has changed since it is dropped.
---@param answer { tick: integer, diagnostics: table[] }
function Document:arrived(answer)
  if self.closed or not vim.api.nvim_buf_is_loaded(self.buf) then
    return
  end
  if answer.tick ~= vim.api.nvim_buf_get_changedtick(self.buf) then
    return
  end
  self.tick, self.pending = answer.tick, nil
  self:publish(answer.diagnostics)
  self:resume(true)
end

--- Checks soon: at the end of this turn of the main loop, or for a long text after a pause.
function Document:changed()
  if self:is_long() then
    self.timer = self.timer or assert(vim.uv.new_timer())
    self.timer:start(
      PAUSE,
      0,
      vim.schedule_wrap(function()
        self:check()
      end)
    )
  elseif not self.due then
    self.due = true
    vim.schedule(function()
      self:check()
    end)
  end
end

--- Reads the same text again because the project has changed. Until then the old answer is better than none.
function Document:recheck()
  self:check(true)
end

--- Calls back once the engine has read the current text; `fine` is false if it never will.
---@param callback fun(fine: boolean)
function Document:ready(callback)
  if not self.closed and self.tick == vim.api.nvim_buf_get_changedtick(self.buf) then
    return callback(true)
  end
  table.insert(self.waiting, callback)
  self:check()
end

function Document:close()
  self.closed = true
  for _, timer in ipairs({ "timer", "calm" }) do
    if self[timer] then
      self[timer]:close()
      self[timer] = nil
    end
  end
  self:resume(false)
  engine.call("document-closed", { path = self.path })
end

return Document
