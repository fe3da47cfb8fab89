--- Measures how long the editor has been idle: its main loop waits for a key, and no key came. Time inside a command
--- (`:sleep`, `vim.wait()`, `getchar()`) does not count, since keys typed meanwhile are read only afterwards, by
--- whatever window is shown then. `SafeState` fires when the main loop waits. A heartbeat makes it fire repeatedly,
--- and each beat counts for at most its own length, so that a loop that was blocked does not count as idle.
local M = {}

--- The heartbeat, in milliseconds.
local BEAT = 50

---@class superpower.Idle
---@field idle number idle time until now, in ms
---@field before number idle time before the last key, in ms
---@field beat? fun(this: superpower.Idle) called at each beat while the main loop waits
---@field from? number the time of the last beat

local watching = {} ---@type table<superpower.Idle, true>
local namespace = vim.api.nvim_create_namespace("superpower-idle")
local timer ---@type uv.uv_timer_t?
local group ---@type integer?

---@return number
local function now()
  return vim.uv.hrtime() / 1e6
end

--- Handles a key. A key that was not typed (from a macro or a mapping) never counts as one after a quiet moment.
---@param typed string?
local function on_key(typed)
  for this in pairs(watching) do
    if typed == "" then
      this.before = 0
    else
      this.before, this.idle, this.from = this.idle, 0, nil
    end
  end
end

local function on_beat()
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

--- Whether `SafeState` is ignored. With `eventignore=all` the heartbeat itself checks whether the main loop waits.
---@return boolean
local function is_ignored()
  local ignored = vim.opt.eventignore:get()
  return vim.list_contains(ignored, "all") or vim.list_contains(ignored, "SafeState")
end

local function start()
  vim.on_key(function(_, typed)
    on_key(typed)
  end, namespace)
  group = vim.api.nvim_create_augroup("superpower-idle", { clear = true })
  vim.api.nvim_create_autocmd("SafeState", { group = group, nested = true, callback = on_beat })
  local scheduled = false
  timer = assert(vim.uv.new_timer())
  timer:start(BEAT, BEAT, function()
    if not scheduled then
      scheduled = true
      vim.schedule(function() -- an event for the main loop, which fires `SafeState` after it
        scheduled = false
        -- Inside a command that waits, `state()` is not empty or this function has a caller.
        if is_ignored() and vim.fn.state() == "" and not debug.getinfo(2, "S") then
          on_beat()
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

--- Starts measuring now.
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

--- Starts measuring from zero.
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
