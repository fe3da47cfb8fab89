--- A declaration in a buffer: its text goes to the engine when it has changed, and what is wrong comes back.
---
--- Neovim's own tracking of changes is not used: the server lives in the same process, so it reads the buffer when it
--- needs the text, once a turn of the main loop however many lines were changed in it.
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
---@field published? integer the change whose faults are shown
---@field pending? integer the change that the engine is reading
---@field waiting fun(fine: boolean)[] what goes on once the engine has read
---@field publish fun(document: superpower.lsp.Document, diagnostics: table[])
---@field timer? uv.uv_timer_t
---@field calm? uv.uv_timer_t
---@field due boolean
---@field closed boolean
local Document = {}
Document.__index = Document

--- From here on the text is read and sent only after a pause in typing, since that alone takes a part of a frame.
local LARGE = 96 * 1024
--- What no declaration may have is not even sent.
local TOO_LARGE = 1024 * 1024
--- The pause, in milliseconds.
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

--- What the engine is told of the buffer, but for its text.
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

local said = {} ---@type table<string, true>

--- Says once what would otherwise be said at every key.
---@param err superpower.Error
local function say(err)
  if not said[err.message] then
    said[err.message] = true
    notify.engine_error(err)
  end
end

---@param fine boolean
function Document:resume(fine)
  local waiting = self.waiting
  self.waiting = {}
  for _, go_on in ipairs(waiting) do
    go_on(fine)
  end
end

--- Has the engine read the text as it is now, unless it has already.
---@param anew? boolean even then
function Document:check(anew)
  self.due = false
  if self.closed or not vim.api.nvim_buf_is_loaded(self.buf) then
    return self:resume(false)
  end
  local tick = vim.api.nvim_buf_get_changedtick(self.buf)
  if not anew and (self.tick == tick or self.pending == tick) then
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
    say(assert(err))
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

--- Checks soon: at the end of this turn of the main loop, or after a pause where that would be felt.
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

--- Reads again, though the text is the same: the project is not. Until then the old answer is better than none.
function Document:again()
  self:check(true)
end

--- Goes on once the engine has read the text as it is now; `fine` is false where it never will.
---@param go_on fun(fine: boolean)
function Document:ready(go_on)
  if not self.closed and self.tick == vim.api.nvim_buf_get_changedtick(self.buf) then
    return go_on(true)
  end
  table.insert(self.waiting, go_on)
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
