--- The only user of the native library (library.lua finds it): speaks JSON with it and hears its events.
---
--- Nothing starts when this file is required. The library is loaded by the first call, or by `load()`. Its threads
--- never touch Lua: they write one byte into a pipe of ours, and the main loop then takes the events that wait.
local native_library = require("superpower.base.library")
local request = require("superpower.base.request")
local texts = require("superpower.base.text")
local notify = require("superpower.notify")

local uv = vim.uv

local M = {}

--- A poll takes no more than this; the library rings again for the rest.
local BATCH = 200
--- How often to look where there is no pipe to wake us, in milliseconds.
local FALLBACK_EVERY = 100
--- How long stopping may take on leaving the editor, in milliseconds.
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
local unwritten = {} ---@type string[] checkpoints that stayed so when it stopped
local handlers = {} ---@type table<string, fun(event: table)[]>
local pipe ---@type uv.uv_pipe_t?
local timer ---@type uv.uv_timer_t?
local scheduled = false
local batches = {} ---@type table[][] events that were taken and are not dispatched yet, outermost first
local running = {} ---@type table<string, true> roots whose run is on, for the fallback timer
local unanswered = 0 ---@type integer what was asked and is to be answered by an event

--- Operations after which events come.
local STARTS = { ask = true, run = true, resume = true, decide = true, retry = true, skip = true }

---@return nil, superpower.Error
local function refused(code, message)
  return nil, { code = code, message = message }
end

local function decode(text)
  return vim.json.decode(text, { luanil = { object = true } })
end

--- Something of ours has raised: that is said, and nothing else stops for it.
---@param message string
local function stumbled(message)
  if not pcall(notify.broken, message) then
    io.stderr:write("superpower: " .. message:match("[^\n]+") .. "\n")
  end
end

local function dispatch(event)
  for _, name in ipairs({ event.type, "*" }) do
    for _, handler in ipairs(vim.list_slice(handlers[name] or {})) do
      local fine, message = xpcall(handler, debug.traceback, event)
      if not fine then
        stumbled(('an event handler for "%s" failed: %s'):format(event.type, message))
      end
    end
  end
end

--- Takes a bounded number of events from the library and hands them on.
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

local function drain_or_say()
  local fine, message = xpcall(drain, debug.traceback)
  if not fine then
    stumbled("events were lost: " .. message)
  end
end

local function wake()
  if not scheduled then
    scheduled = true
    vim.schedule(drain_or_say)
  end
end

--- Where no pipe wakes us we look ourselves, while a run is on.
local function look_while_running()
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
      look_while_running()
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
  pcall(vim.fn.mkdir, vim.fs.dirname(log), "p") -- a log that cannot be written stops nothing
  found.log(log)
  native = found
  info = { path = path, version = found.version, protocol = found.protocol, log = log, waking = attach(found) }
  vim.api.nvim_create_autocmd("VimLeavePre", {
    group = vim.api.nvim_create_augroup("superpower_engine", { clear = true }),
    desc = "stop what superpower has started",
    callback = M.stop,
  })
  return true
end

--- Asks the library, and waits for its answer. Errors are values: nothing is raised.
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
    return refused("bad-argument", ('the fields of "%s" are not data: %s'):format(tostring(op), text))
  end
  local answer = decode(assert(native).call(text))
  if answer.err then
    local odd = answer.err.code == "bad-request" and texts.odd(text)
    if odd then
      answer.err.message = ('"%s" is not UTF-8, and only UTF-8 can be used here'):format(odd)
    end
    return nil, answer.err
  end
  if op == "ask" then
    unanswered = unanswered + 1
  end
  if STARTS[op] then
    look_while_running()
  end
  return answer.ok
end

--- Calls `handler` with every event of a type, or of all types for "*", on the main loop.
---@param type string
---@param handler fun(event: table)
---@return fun() off stops it
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

--- The plugin's directory.
---@return string
function M.root()
  return native_library.root()
end

--- Where the library is looked for, in this order.
---@return string[]
function M.paths()
  return native_library.paths()
end

--- What is loaded, or nil: loads nothing.
---@return superpower.EngineInfo?
function M.info()
  return info
end

--- Hands out what is queued, now, and says how much it was. For code that keeps the main loop to itself.
M.drain = drain

--- Stops everything that runs, and hears nothing more. Called on leaving the editor.
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

--- Stops everything, and gives what nobody has heard yet, and the checkpoints that stay unwritten. For who ends the editor
--- when handlers are no longer called; it calls nothing of Neovim's.
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
