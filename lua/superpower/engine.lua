--- The only user of the native library (library.lua finds it). It exchanges JSON with the library and dispatches its
--- events.
---
--- Requiring this file starts nothing. The library is loaded by the first call, or by `load()`. Its threads never
--- touch Lua: they write one byte into a pipe, and the main loop then takes the queued events.
local native_library = require("superpower.base.library")
local request = require("superpower.base.request")
local texts = require("superpower.base.text")
local notify = require("superpower.notify")

local uv = vim.uv

local M = {}

--- The maximum number of events per poll. If there are more, the library wakes the main loop again.
local BATCH = 200
--- The interval of polling without a pipe, in milliseconds.
local FALLBACK_EVERY = 100
--- The maximum time to stop when the editor is left, in milliseconds.
local GRACE = 1000

---@class superpower.Event
---@field type string
---@field root? string

---@class superpower.EngineInfo
---@field path string the library
---@field version string
---@field protocol integer
---@field log string the log file
---@field waking "pipe"|"timer" how events reach the editor

local native ---@type superpower.Native?
local info ---@type superpower.EngineInfo?
local stopped = false
local unwritten = {} ---@type string[] checkpoints that were still unwritten when it stopped
local handlers = {} ---@type table<string, fun(event: table)[]>
local pipe ---@type uv.uv_pipe_t?
local timer ---@type uv.uv_timer_t?
local scheduled = false
local batches = {} ---@type table[][] events that were taken and not dispatched yet, outermost first
local running = {} ---@type table<string, true> roots with an active run, for the fallback timer
local unanswered = 0 ---@type integer requests that an event will answer

--- Operations that are followed by events.
local STARTS = { ask = true, run = true, resume = true, decide = true, retry = true, skip = true }

---@return nil, superpower.Error
local function refused(code, message)
  return nil, { code = code, message = message }
end

local function decode(text)
  return vim.json.decode(text, { luanil = { object = true } })
end

--- Reports an error of our own code. Nothing else stops for it.
---@param message string
local function report_error(message)
  if not pcall(notify.internal_error, message) then
    io.stderr:write("superpower: " .. message:match("[^\n]+") .. "\n")
  end
end

local function dispatch(event)
  for _, name in ipairs({ event.type, "*" }) do
    for _, handler in ipairs(vim.list_slice(handlers[name] or {})) do
      local fine, message = xpcall(handler, debug.traceback, event)
      if not fine then
        report_error(('an event handler for "%s" failed: %s'):format(event.type, message))
      end
    end
  end
end

--- Takes a bounded number of events from the library and dispatches them.
---@return integer taken
local function drain()
  scheduled = false
  if not native or stopped or vim.v.exiting ~= vim.NIL then
    return 0
  end
  local events = decode(native.poll(BATCH))
  local batch = vim.list_slice(events)
  table.insert(batches, batch)
  for _, event in ipairs(events) do
    table.remove(batch, 1)
    if event.type == "snapshot" and type(event.run) == "table" then
      running[event.root or ""] = event.run.state == "running" or nil
    end
    if event.type == "answered" then
      unanswered = unanswered - 1
    end
    dispatch(event)
  end
  table.remove(batches)
  if timer and unanswered == 0 and not next(running) and #events == 0 then
    timer:stop()
  end
  return #events
end

local function drain_safely()
  local fine, message = xpcall(drain, debug.traceback)
  if not fine then
    report_error("events were lost: " .. message)
  end
end

local function wake()
  if not scheduled then
    scheduled = true
    vim.schedule(drain_safely)
  end
end

--- Polls while a run is active, if there is no pipe.
local function poll_while_running()
  if not pipe and not stopped then
    timer = timer or assert(uv.new_timer())
    if not timer:is_active() then
      timer:start(FALLBACK_EVERY, FALLBACK_EVERY, wake)
    end
  end
end

local function close_pipe()
  if pipe and not pipe:is_closing() then
    pipe:close()
  end
  pipe = nil
end

--- Gives the library the write end of a pipe whose read end the main loop watches.
---@param library superpower.Native
---@return "pipe"|"timer"
local function attach(library)
  local fds = uv.pipe({ nonblock = true }, { nonblock = true })
  if not fds then
    return "timer"
  end
  pipe = assert(uv.new_pipe(false))
  pipe:open(fds.read)
  local answer = decode(library.attach(fds.write))
  uv.fs_close(fds.write) -- the library has made its own duplicate
  if answer.err then
    close_pipe()
    return "timer"
  end
  pipe:read_start(function(err, data)
    if err or not data then
      close_pipe()
      poll_while_running()
    else
      wake()
    end
  end)
  return "pipe"
end

--- Loads the library, if it is not loaded yet.
---@return true?
---@return superpower.Error?
function M.load()
  if native then
    return true
  end
  local found, path = native_library.open()
  if not found then
    return nil, path --[[@as superpower.Error]]
  end
  local log = vim.fn.stdpath("log") .. "/superpower.log"
  pcall(vim.fn.mkdir, vim.fs.dirname(log), "p") -- the plugin works without a log
  found.log(log)
  native = found
  info = { path = path, version = found.version, protocol = found.protocol, log = log, waking = attach(found) }
  vim.api.nvim_create_autocmd("VimLeavePre", {
    group = vim.api.nvim_create_augroup("superpower_engine", { clear = true }),
    desc = "stop the agents of superpower",
    callback = M.stop,
  })
  return true
end

--- Calls the library, and waits for its answer. Errors are returned, never raised.
---@param op string
---@param fields? table
---@return any value, superpower.Error? err
function M.call(op, fields)
  if stopped then
    return refused("stopped", "the editor is being left")
  end
  local loaded, why = M.load()
  if not loaded then
    return nil, why
  end
  local encoded, text = pcall(request.text, op, fields)
  if not encoded then
    return refused("bad-argument", ('invalid fields for "%s": %s'):format(tostring(op), text))
  end
  local answer = decode(assert(native).call(text))
  if answer.err then
    local invalid = answer.err.code == "bad-request" and texts.odd(text)
    if invalid then
      answer.err.message = ('"%s" is not valid UTF-8'):format(invalid)
    end
    return nil, answer.err
  end
  if op == "ask" then
    unanswered = unanswered + 1
  end
  if STARTS[op] then
    poll_while_running()
  end
  return answer.ok
end

--- Calls `handler` with every event of a type, or of all types for "*", on the main loop.
---@param type string
---@param handler fun(event: table)
---@return fun() off removes the handler
function M.on(type, handler)
  local list = handlers[type] or {}
  handlers[type] = list
  list[#list + 1] = handler
  return function()
    for index, other in ipairs(list) do
      if other == handler then
        table.remove(list, index)
        return
      end
    end
  end
end

--- Returns the plugin's directory.
---@return string
function M.root()
  return native_library.root()
end

--- Returns the paths where the library is looked for, in this order.
---@return string[]
function M.paths()
  return native_library.paths()
end

--- Returns what is loaded, or nil. Loads nothing.
---@return superpower.EngineInfo?
function M.info()
  return info
end

--- Dispatches the queued events now, and returns their number. For code that blocks the main loop.
M.drain = drain

--- Stops everything, and handles no more events. Called when the editor is left.
function M.stop()
  if stopped or not native then
    return
  end
  stopped = true
  local answer = decode(native.call(vim.json.encode({ op = "stop", grace_ms = GRACE })))
  unwritten = answer.ok and answer.ok.unwritten or {}
  native.detach()
  close_pipe()
  if timer then
    timer:close()
    timer = nil
  end
end

--- Stops everything, and returns the events that were not dispatched, and the checkpoints that stay unwritten. For
--- ending the editor when handlers are no longer called; it does not call Neovim's API.
---@return table[] events, string[] unwritten
function M.rest()
  M.stop()
  local rest = vim.iter(batches):flatten():totable()
  repeat
    local events = native and decode(native.poll(BATCH)) or {}
    vim.list_extend(rest, events)
  until #events == 0
  return rest, unwritten
end

return M
