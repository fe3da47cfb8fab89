--- The user's attention: whether they are typing, so that no window takes the focus, and how to call them when they
--- look elsewhere.
local config = require("superpower.config")
local idle = require("superpower.editor.idle")
local osc = require("superpower.editor.osc")

local M = {}

local namespace = vim.api.nvim_create_namespace("superpower-attention")
local typing_ms = 500
local last_key = -math.huge
local wanted, waiting, watching = false, 0, false

local function update()
  local on = wanted or waiting > 0
  if on ~= watching then
    watching = on
    vim.on_key(on and function(_, typed)
      if typed == nil or typed ~= "" then
        last_key = vim.uv.now()
      end
    end or nil, namespace)
  end
end

--- Records the time of each key while a run is active, so that a burst of normal-mode commands counts as typing.
---@param on boolean
function M.watch(on)
  wanted = on
  update()
end

--- Whether a key was pressed in the last half second.
---@return boolean
function M.recent()
  return vim.uv.now() - last_key < typing_ms
end

--- Whether the cursor is in a window of Neovim's own messages (`vim._core.ui2`), which closes when it is left. A user
--- who reads there is as busy as one who types.
---@return boolean
local function reads_messages()
  return vim.list_contains({ "pager", "cmd", "msg", "dialog" }, vim.bo.filetype) and vim.bo.buftype ~= ""
end

--- Whether the editor is in the middle of something that a window must not interrupt.
---@return boolean
function M.busy()
  local mode = vim.api.nvim_get_mode()
  if mode.blocking or (mode.mode ~= "n" and mode.mode ~= "nt") then
    return true
  end
  return vim.fn.reg_recording() ~= ""
    or vim.fn.reg_executing() ~= ""
    or vim.fn.getcmdwintype() ~= ""
    or vim.fn.pumvisible() == 1
    or vim.fn.state("moa") ~= ""
    or reads_messages()
end

local focused ---@type boolean? nil until the terminal has said it

--- Tracks whether the editor has the focus of its terminal.
function M.listen()
  vim.api.nvim_create_autocmd({ "FocusGained", "FocusLost" }, {
    group = vim.api.nvim_create_augroup("superpower-focus", { clear = true }),
    callback = function(args)
      focused = args.event == "FocusGained"
    end,
  })
end

--- Whether the terminal says that the user looks at it.
---@return boolean
function M.focused()
  return focused == true and #vim.api.nvim_list_uis() > 0
end

--- Writes bytes to the terminal.
---@param bytes string
local function send(bytes)
  if vim.api.nvim_ui_send then
    vim.api.nvim_ui_send(bytes)
  else
    pcall(vim.api.nvim_chan_send, vim.v.stderr, bytes)
  end
end

--- Calls the user through their terminal, because a run waits, asks, has failed or is complete.
---@param event { title: string, body: string }
function M.call(event)
  local uis = vim.api.nvim_list_uis()
  if #uis == 0 then
    return
  end
  local rings, protocol = false, nil ---@type boolean, superpower.Osc?
  for _, way in ipairs(config.get().attention) do
    rings = rings or way == "bell-always" or (way == "bell" and focused == false)
    if way == "osc" then
      protocol = protocol or osc.guess(uis[1].term_name, vim.env)
    elseif vim.startswith(way, "osc-") then
      protocol = way
    end
  end
  if rings then
    send("\a")
  end
  local terminal = vim.iter(uis):any(function(ui)
    return ui.stdout_tty
  end)
  if protocol and terminal and focused == false then
    send(osc.notification(protocol, event.title, event.body, (vim.env.TMUX or "") ~= ""))
  end
end

--- Calls `now` as soon as no key is typed and the editor is idle, or `never` if the editor is busy.
---@param now fun()
---@param never fun()
function M.when_quiet(now, never)
  waiting = waiting + 1
  update()
  local watch ---@type superpower.Idle?
  local function done(act)
    waiting = waiting - 1
    update()
    if watch then
      idle.forget(watch)
    end
    if vim.v.exiting == vim.NIL then
      act()
    end
  end
  if M.busy() then
    return done(never)
  end
  -- Not at once: this may run inside a command that waits, and keys typed meanwhile are not meant for the window.
  watch = idle.watch(function(this)
    if M.busy() then
      done(never)
    elseif this.idle >= 50 and not M.recent() then
      done(now)
    end
  end)
end

return M
