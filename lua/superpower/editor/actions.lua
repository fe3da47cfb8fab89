--- The user's own autocommands hear of what we do, and what goes wrong in them neither stops our action nor is ours: their
--- error is shown as Neovim shows it, and what they kept from being done is done without them. So is a refusal of
--- Neovim's own (E37, a swap file): its line, and no trace of ours.
local path_check = require("superpower.base.path_check")
local notify = require("superpower.notify")

local M = {}

--- Whether it was raised in an autocommand.
---@param message string
---@return boolean
local function heard(message)
  return message:find('%a+ Autocommands for ".-": ') ~= nil
end

--- An error as Neovim itself would say it: without where in our code it came by.
---@param message string
---@return string
function M.words(message)
  local words = message:match("Vim%b():(.*)$") or message:match("Vim:(E%d+.*)$") or message
  return (words:gsub("\nstack traceback:.*$", ""):gsub("\n.*$", ""))
end

---@param message string
local function show(message)
  if vim.v.exiting == vim.NIL then
    notify.editor_error(M.words(message))
  end
end

--- What is done while errors in autocommands are kept quiet.
---@type fun()
M.doing = function() end

--- Does something under `:silent!`, where an error in an autocommand ends neither it nor the other autocommands.
---@generic T
---@param fn fun(): T
---@return boolean fine it did not raise itself
---@return T|string value or error
---@return string heard the last error that was kept quiet, or ""
local function quietly(fn)
  local fine, value = false, nil
  vim.v.errmsg = ""
  M.doing = function()
    fine, value = pcall(fn)
  end
  local ran, message = pcall(vim.cmd, "silent! lua require('superpower.editor.actions').doing()")
  return fine, value, ran and vim.v.errmsg or tostring(message)
end

--- What becomes of something that raised: nothing where the user gave it up, Neovim's own words where it refused.
---@param message string
---@return nil, string refusal
local function refused(message)
  if message:find("Vim:Interrupt", 1, true) or message:find("Keyboard interrupt", 1, true) then
    return nil, ""
  elseif heard(message) or message:find("Vim[^:]*:E%d+") or message:find("^E%d+") then
    return nil, M.words(message)
  end
  error(message, 0)
end

--- Does something that autocommands hear of.
---@generic T
---@param fn fun(): T
---@return T?
---@return string? refusal Neovim's own, to be said or got round
function M.run(fn)
  local fine, value, words = quietly(fn)
  if words ~= "" then
    show(words)
  end
  if fine then
    return value
  end
  return refused(tostring(value))
end

--- Lets the user's autocommands hear of a `User` event.
---@param fn fun()
function M.emit(fn)
  local fine, value, words = quietly(fn)
  if words ~= "" or not fine then
    show(words ~= "" and words or tostring(value))
  end
end

--- Makes a window the current one.
---@param win integer
function M.enter(win)
  M.run(function()
    vim.api.nvim_set_current_win(win)
  end)
end

--- Makes a buffer.
---@param listed boolean
---@param scratch boolean
---@return integer buf
function M.buffer(listed, scratch)
  return (M.run(function()
    return vim.api.nvim_create_buf(listed, scratch)
  end))
end

--- Opens a window.
---@param buf integer
---@param enter boolean
---@param config vim.api.keyset.win_config
---@return integer win
function M.open(buf, enter, config)
  local win, refusal = M.run(function()
    return vim.api.nvim_open_win(buf, enter, config)
  end)
  return win or error(refusal, 0)
end

--- A command that opens a window, which is then the current one.
---@param command string
function M.split(command)
  M.run(function()
    vim.cmd(command)
  end)
end

--- Whether a file is what the current window shows.
---@param path string
---@return boolean
local function shown(path)
  local name = vim.api.nvim_buf_get_name(0)
  local stat = vim.uv.fs_stat(path)
  local unread = stat and stat.size > 0 and vim.fn.line("$") == 1 and vim.fn.getline(1) == ""
  local here = name == vim.fn.fnamemodify(path, ":p")
    or (name ~= "" and vim.uv.fs_realpath(name) == vim.uv.fs_realpath(path))
  return here and not unread
end

--- Opens a file, where it is one for which the editor need not wait. Where Neovim does not give up the buffer of this
--- window ('hidden' is off, and it has changes), in a split; what else it refuses, or the user at a swap file's question, is
--- said, and nothing is open then.
---@param how "edit"|"tabedit"
---@param path string
---@return boolean opened
function M.file(how, path)
  local problem = path_check.problem(path)
  if problem then
    notify.error(problem)
    return false
  end
  local function open(command)
    vim.cmd[command](vim.fn.fnameescape(path))
  end
  -- Not quietly: what Neovim says of a file, and asks of its swap file, is to be seen.
  local fine, message = pcall(open, how)
  local refusal = ""
  if not fine and tostring(message):find("Vim[^:]*:E37:") then
    fine, message = pcall(open, "split")
  end
  if not fine and heard(tostring(message)) then
    show(message)
    fine = shown(path) or quietly(function()
      open(how)
    end)
  elseif not fine then
    refusal = select(2, refused(tostring(message)))
  end
  if refusal ~= "" then
    notify.editor_error(refusal)
  end
  return fine and shown(path)
end

--- Gives a buffer a name.
---@param buf integer
---@param name string
function M.name(buf, name)
  M.run(function()
    vim.api.nvim_buf_set_name(buf, name)
  end)
end

--- Closes a window.
---@param win integer
function M.close(win)
  M.run(function()
    vim.api.nvim_win_close(win, true)
  end)
end

return M
