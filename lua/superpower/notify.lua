--- Messages to the user. With a user interface they use `vim.notify`. Headless they are whole lines on standard error,
--- since Neovim's own messages go there without a line end. Nothing is shown while the editor exits.
local errors = require("superpower.base.errors")
local text = require("superpower.base.text")
local config = require("superpower.config")

local M = {}

local forced = false

--- Makes the editor count as headless, because the bang was used: nothing is asked and no window opens.
function M.force_headless()
  forced = true
end

--- Whether there is no user: no user interface, and no other program that drives this editor over its standard
--- channels.
---@return boolean
function M.headless()
  if forced then
    return true
  elseif #vim.api.nvim_list_uis() > 0 then
    return false
  end
  for _, channel in ipairs(vim.api.nvim_list_chans()) do
    if channel.stream == "stdio" then
      return false
    end
  end
  return true
end

--- Makes a message safe for a terminal: it cannot contain control bytes.
---@param message string
---@return string
local function safe(message)
  return table.concat(text.lines(message), "\n")
end

local plain = vim.notify

--- Whether Neovim draws its messages in windows (`vim._core.ui2`, 0.12): there a long one asks for no key.
---@return boolean
function M.in_windows()
  local ui2 = package.loaded["vim._core.ui2"]
  return type(ui2) == "table" and type(ui2.cfg) == "table" and ui2.cfg.enable == true
end

--- Whether Neovim itself would show this as a line wider than the screen, and so ask for a key. A user's own
--- `vim.notify` gets the whole message.
---@param message string
---@return boolean
local function too_long(message)
  return vim.notify == plain
    and not M.in_windows()
    and not message:find("\n", 1, true)
    and vim.api.nvim_strwidth(message) > math.max(20, vim.v.echospace)
end

local highlights = { [vim.log.levels.ERROR] = "ErrorMsg", [vim.log.levels.WARN] = "WarningMsg" }

--- Shows a message that is too long for the screen: Neovim shows its beginning and end, and `:messages` has the whole
--- of it.
---@param message string
---@param level integer
local function long(message, level)
  local shortmess = vim.o.shortmess
  vim.opt.shortmess:append("T")
  vim.cmd.echohl(highlights[level] or "None")
  pcall(vim.cmd.echomsg, vim.fn.string(message))
  vim.cmd.echohl("None")
  vim.o.shortmess = shortmess
end

--- The same without a command line, where Neovim would ask for a key: `:messages` has it line by line.
---@param message string
---@param level integer
local function in_pieces(message, level)
  local room, group = math.max(20, vim.v.echospace), highlights[level]
  for _, line in ipairs(text.wrap(message, room)) do
    vim.api.nvim_echo({ { line, group } }, true, {})
    vim.cmd.redraw() -- a single line asks for no key
  end
  local half = math.floor(room / 2)
  local ending = vim.fn.strcharpart(message, vim.fn.strchars(message) - half + 1)
  vim.api.nvim_echo({ { text.cut(text.cut(message, half) .. ending, room), group } }, false, {})
end

--- Writes whole lines to standard error.
---@param message string
function M.stderr(message)
  io.stderr:write("superpower: " .. safe(message) .. "\n")
  io.stderr:flush()
end

---@param message string
---@param level integer
local function say(message, level)
  if vim.v.exiting ~= vim.NIL then
    return
  end
  if M.headless() then
    return M.stderr(message)
  end
  message = safe(message)
  vim.schedule(function()
    if vim.v.exiting ~= vim.NIL then
      return
    end
    if too_long(message) then
      (vim.o.cmdheight > 0 and long or in_pieces)(message, level)
    elseif vim.notify == plain and vim.o.cmdheight == 0 and level == vim.log.levels.ERROR then
      -- A real error would ask for a key here, and disappear then.
      vim.api.nvim_echo({ { message, "ErrorMsg" } }, true, {})
    else
      vim.notify(message, level, { title = "superpower" })
    end
  end)
end

--- Shows an answer to what the user did. It is always shown.
---@param message string
function M.info(message)
  say(message, vim.log.levels.INFO)
end

---@param message string
function M.warn(message)
  say(message, vim.log.levels.WARN)
end

---@param message string
function M.error(message)
  say(message, vim.log.levels.ERROR)
end

--- Shows news that the user did not ask for, subject to the option `notify`.
---@param message string
---@param level "info"|"warn"|"error"
---@param attention? boolean whether it needs the user
function M.news(message, level, attention)
  local wanted = config.get().notify
  if M.headless() and level == "info" then
    return
  end
  if wanted == "none" or (wanted == "attention" and level == "info" and not attention) then
    return
  end
  say(message, vim.log.levels[level:upper()] or vim.log.levels.INFO)
end

--- Shows news for which the user is called, subject to the option `attention` too.
---@param message string
---@param level "info"|"warn"|"error"
---@param waits? boolean whether something waits for the user
function M.call(message, level, waits)
  if M.headless() or vim.list_contains(config.get().attention, "notify") then
    M.news(message, level, waits)
  end
end

--- Shows an error that is not ours: from the user's autocommands, or from Neovim.
---@param message string
function M.editor_error(message)
  if M.headless() then
    return M.stderr(vim.trim(message):gsub("%s*\n%s*", " ") .. "")
  end
  vim.schedule(function()
    if vim.v.exiting == vim.NIL then
      vim.api.nvim_echo({ { safe(message), "ErrorMsg" } }, true, {})
    end
  end)
end

local reported = {} ---@type table<string, true> internal errors, each reported once
--- Whether an internal error has occurred: a headless verb then fails.
M.failed = false

--- Reports an internal error: with its trace if there is a user, else in one line; the headless verb then fails.
---@param message string
function M.internal_error(message)
  if M.headless() then
    if not M.failed then
      M.failed = true
      M.stderr((message:match("[^\n]+")))
    end
  elseif not reported[message] then
    reported[message] = true
    M.error("superpower: " .. message)
  end
end

--- Shows an error of the engine. Giving up a question shows nothing.
---@param err superpower.Error
function M.engine_error(err)
  if err.code ~= "given-up" then
    M.error(errors.text(err))
  end
end

return M
