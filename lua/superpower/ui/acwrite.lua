--- Buffers whose `:w` sends what the user has written. They count as modified like any other buffer, so that `:qa`
--- asks first. Only a write by the user, from the buffer itself, sends anything: a plugin that saves automatically
--- does not, nor does a `:wall` from another buffer.
local actions = require("superpower.editor.actions")
local float = require("superpower.ui.float")

local M = {}

local namespace = vim.api.nvim_create_namespace("superpower-written")
local guarded = {} ---@type table<integer, true>
local typed_in ---@type integer? the buffer of the last typed key, until the editor has handled it

---@param buf integer
local function guard(buf)
  if not next(guarded) then
    vim.on_key(function(_, typed)
      if typed ~= "" then
        typed_in = vim.api.nvim_get_current_buf()
      end
    end, namespace)
    vim.api.nvim_create_autocmd("SafeState", {
      group = vim.api.nvim_create_augroup("superpower-written", { clear = true }),
      callback = function()
        typed_in = nil
      end,
    })
  end
  guarded[buf] = true
end

---@param buf integer
local function unguard(buf)
  guarded[buf] = nil
  if not next(guarded) then
    vim.on_key(nil, namespace)
    vim.api.nvim_create_augroup("superpower-written", { clear = true })
  end
end

--- Whether the current write was requested by a key typed in this buffer, and not by an autocommand.
---@param buf integer
---@return boolean
function M.by_user(buf)
  local stack = vim.fn.expand("<stack>"):gsub("BufWriteCmd Autocommands", "")
  return typed_in == buf and not stack:find("Autocommands", 1, true)
end

---@class superpower.WrittenOpts
---@field name string
---@field lines string[]
---@field listed boolean
---@field modified boolean the lines hold text that was typed earlier
---@field write fun(buf: integer) called when the user writes

--- `:w FILE` writes a copy, and sends nothing.
---@param buf integer
---@param path string
local function copy(buf, path)
  local lines = vim.api.nvim_buf_get_lines(buf, vim.fn.line("'[") - 1, vim.fn.line("']"), false)
  vim.fn.writefile(lines, path)
end

--- Makes such a buffer. It stays, hidden, when its window closes.
---@param opts superpower.WrittenOpts
---@return integer
function M.buffer(opts)
  local buf = actions.buffer(opts.listed, false)
  vim.bo[buf].buftype = "acwrite"
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].swapfile = false
  vim.bo[buf].modeline = false
  local own = ("superpower://%s/%d"):format(opts.name, buf)
  actions.name(buf, own)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, opts.lines)
  vim.bo[buf].modified = opts.modified
  float.filetype(buf, "markdown")
  guard(buf)
  local function on(event, callback)
    vim.api.nvim_create_autocmd(event, { buffer = buf, callback = callback })
  end
  on("BufWriteCmd", function(event)
    if event.match ~= own then
      copy(buf, event.file)
    elseif M.by_user(buf) then
      opts.write(buf)
    end
  end)
  on("BufReadCmd", function() -- `:e!`
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, opts.lines)
    vim.bo[buf].modified = opts.modified
    float.filetype(buf, "markdown")
  end)
  on("BufWipeout", function()
    unguard(buf)
  end)
  -- `:x` and `ZZ` write only a modified buffer.
  on("CmdlineLeave", function()
    if vim.fn.getcmdtype() == ":" and vim.fn.getcmdline():match("^%s*[xe]x?i?t?!?%s*$") then
      vim.bo[buf].modified = true
    end
  end)
  vim.keymap.set("n", "ZZ", "<Cmd>wq<CR>", { buffer = buf, desc = "Send" })
  return buf
end

--- Deletes the buffer and closes its windows.
---@param buf integer
function M.wipe(buf)
  if vim.api.nvim_buf_is_valid(buf) then
    vim.iter(vim.fn.win_findbuf(buf)):each(float.leave)
    pcall(vim.api.nvim_buf_delete, buf, { force = true })
  end
end

return M
