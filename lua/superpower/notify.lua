--- What is said to the user. With a user interface through `vim.notify`; headless, whole lines on standard error, since
--- Neovim's own messages go there without a line's end. Nothing is said while the editor is leaving.
local errors = require("superpower.base.errors")
local text = require("superpower.base.text")
local config = require("superpower.config")

local M = {}

local forced = false

--- The bang has been used: from now on nothing is asked and no window opens.
function M.force_headless()
  forced = true
end

--- Whether nobody is there: no user interface, and no other program that drives this editor over its standard channels.
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

--- What reaches a terminal: lines without a byte that would steer it.
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

--- Whether Neovim itself shows this, as one line that is longer than the screen is wide: it would ask for a key. A user's
--- own `vim.notify` gets the whole of it.
---@param message string
---@return boolean
local function too_long(message)
  return vim.notify == plain
    and not M.in_windows()
    and not message:find("\n", 1, true)
    and vim.api.nvim_strwidth(message) > math.max(20, vim.v.echospace)
end

local highlights = { [vim.log.levels.ERROR] = "ErrorMsg", [vim.log.levels.WARN] = "WarningMsg" }

--- What is too long for the screen: Neovim shows its beginning and its end, and `:messages` has the whole of it.
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
    vim.cmd.redraw() -- one at a time needs no key
  end
  local half = math.floor(room / 2)
  local ending = vim.fn.strcharpart(message, vim.fn.strchars(message) - half + 1)
  vim.api.nvim_echo({ { text.cut(text.cut(message, half) .. ending, room), group } }, false, {})
end

--- Whole lines on standard error.
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
      -- As an error proper it would ask for a key there, and be gone by then.
      vim.api.nvim_echo({ { message, "ErrorMsg" } }, true, {})
    else
      vim.notify(message, level, { title = "superpower" })
    end
  end)
end

--- An answer to what the user did: always said.
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

--- News that nobody asked for, held to the option `notify`.
---@param message string
---@param level "info"|"warn"|"error"
---@param attention? boolean it waits for the user
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

--- An error that is not ours: of the user's own autocommands, or Neovim's own line.
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

local broken = {} ---@type table<string, true> each is said once
--- Something of ours has raised: a verb without a screen cannot end well any more.
M.failed = false

--- Something of ours has raised: with its trace where somebody looks; else in one line, and the verb ends as failed.
---@param message string
function M.broken(message)
  if M.headless() then
    if not M.failed then
      M.failed = true
      M.stderr((message:match("[^\n]+")))
    end
  elseif not broken[message] then
    broken[message] = true
    M.error("superpower: " .. message)
  end
end

--- A fault of the engine, as an error. Giving up a question says nothing.
---@param err superpower.Error
function M.engine_error(err)
  if err.code ~= "given-up" then
    M.error(errors.text(err))
  end
end

return M
