--- How long the editor has really been idle: its main loop waits for a key, and none came. Time that passes inside a
--- command (`:sleep`, `vim.wait()`, `getchar()`) is not idle, since what is typed meanwhile is read only afterwards, by
--- whatever is shown then. `SafeState` says that the main loop waits; a heartbeat makes it say so again and again, and each
--- beat counts for no more than itself, so that a loop which was held up is not idle for as long as it was away.
local M = {}

--- The heartbeat, in milliseconds.
local BEAT = 50

---@class superpower.Idle
---@field idle number ms that were idle until now
---@field before number ms that were idle when the last key came
---@field beat? fun(this: superpower.Idle) called at each moment that the main loop waits
---@field from? number the last such moment

local watching = {} ---@type table<superpower.Idle, true>
local namespace = vim.api.nvim_create_namespace("superpower-idle")
local timer ---@type uv.uv_timer_t?
local group ---@type integer?

---@return number
local function now()
  return vim.uv.hrtime() / 1e6
end

--- A key was read. One that nobody typed (a macro's, a mapping's) never comes after a quiet moment.
---@param typed string?
local function key(typed)
  for this in pairs(watching) do
    if typed == "" then
      this.before = 0
    else
      this.before, this.idle, this.from = this.idle, 0, nil
    end
  end
end

local function safe()
  local at = now()
  for this in pairs(vim.tbl_extend("force", {}, watching)) do
    if this.from then
      this.idle = this.idle + math.min(at - this.from, BEAT)
    end
    this.from = at
    if this.beat then
      this:beat()
    end
  end
end

--- Whether nobody hears `SafeState`: with `eventignore=all` the heartbeat asks itself whether the main loop waits.
---@return boolean
local function unheard()
  local ignored = vim.opt.eventignore:get()
  return vim.list_contains(ignored, "all") or vim.list_contains(ignored, "SafeState")
end

local function start()
  vim.on_key(function(_, typed)
    key(typed)
  end, namespace)
  group = vim.api.nvim_create_augroup("superpower-idle", { clear = true })
  vim.api.nvim_create_autocmd("SafeState", { group = group, nested = true, callback = safe })
  local due = false
  timer = assert(vim.uv.new_timer())
  timer:start(BEAT, BEAT, function()
    if not due then
      due = true
      vim.schedule(function() -- an event for the main loop, which says `SafeState` after it
        due = false
        -- Inside a command that waits there is a state, or whoever called it.
        if unheard() and vim.fn.state() == "" and not debug.getinfo(2, "S") then
          safe()
        end
      end)
    end
  end)
end

local function stop()
  vim.on_key(nil, namespace)
  pcall(vim.api.nvim_del_augroup_by_id, group)
  if timer then
    timer:stop()
    timer:close()
    timer = nil
  end
end

--- Begins to measure, from now on.
---@param beat? fun(this: superpower.Idle)
---@return superpower.Idle
function M.watch(beat)
  local this = { idle = 0, before = 0, beat = beat }
  local first = next(watching) == nil
  watching[this] = true
  if first then
    start()
  end
  return this
end

--- Begins anew.
---@param this superpower.Idle
function M.reset(this)
  this.idle, this.before, this.from = 0, 0, nil
end

---@param this superpower.Idle
function M.forget(this)
  if watching[this] then
    watching[this] = nil
    if next(watching) == nil then
      stop()
    end
  end
end

return M
