--- Editor actions (open a window, make a buffer, …) that survive the user's autocommands. An error in an autocommand
--- does not stop the action: it is shown as Neovim shows it, and what it prevented is done without autocommands. If
--- Neovim itself refuses (E37, a swap file), only its message is shown, without our stack trace.
local path_check = require("superpower.base.path_check")
local notify = require("superpower.notify")

local M = {}

--- Whether an error was raised in an autocommand.
---@param message string
---@return boolean
local function from_autocommand(message)
  return message:find('%a+ Autocommands for ".-": ') ~= nil
end

--- Returns an error as Neovim itself would show it, without the place in our code.
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

--- The function that runs under `:silent!`.
---@type fun()
M.doing = function() end

--- Runs a function under `:silent!`, so that an error in one autocommand stops neither the function nor the other
--- autocommands.
---@generic T
---@param fn fun(): T
---@return boolean fine the function itself did not raise
---@return T|string value or error
---@return string message the last error that was silenced, or ""
local function quietly(fn)
  local fine, value = false, nil
  vim.v.errmsg = ""
  M.doing = function()
    fine, value = pcall(fn)
  end
  local ran, message = pcall(vim.cmd, "silent! lua require('superpower.editor.actions').doing()")
  return fine, value, ran and vim.v.errmsg or tostring(message)
end

--- Handles an error of an action: returns nothing if the user interrupted it, or Neovim's own message if Neovim
--- refused it.
---@param message string
---@return nil, string refusal
local function refused(message)
  if message:find("Vim:Interrupt", 1, true) or message:find("Keyboard interrupt", 1, true) then
    return nil, ""
  elseif from_autocommand(message) or message:find("Vim[^:]*:E%d+") or message:find("^E%d+") then
    return nil, M.words(message)
  end
  error(message, 0)
end

--- Runs an action that triggers autocommands.
---@generic T
---@param fn fun(): T
---@return T?
---@return string? refusal Neovim's own message
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

--- Fires a `User` event for the user's autocommands.
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

--- Runs a command that opens a window and enters it.
---@param command string
function M.split(command)
  M.run(function()
    vim.cmd(command)
  end)
end

--- Whether the current window shows a file.
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

--- Opens a file, unless it would block the editor. If Neovim cannot abandon the buffer of this window ('hidden' is
--- off, and it has changes), the file opens in a split. If Neovim refuses for another reason, or the user cancels at
--- the question about a swap file, the message is shown and no file is opened.
---@param how "edit"|"tabedit"|"tab sview"
---@param path string
---@return boolean opened
function M.file(how, path)
  local problem = path_check.problem(path)
  if problem then
    notify.error(problem)
    return false
  end
  local function open(command)
    vim.cmd(command .. " " .. vim.fn.fnameescape(path))
  end
  -- Not silently: the user has to see what Neovim says about the file, and its question about a swap file.
  local fine, message = pcall(open, how)
  local refusal = ""
  if not fine and tostring(message):find("Vim[^:]*:E37:") then
    fine, message = pcall(open, "split")
  end
  if not fine and from_autocommand(tostring(message)) then
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
