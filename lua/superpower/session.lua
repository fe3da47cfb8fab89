--- This editor's session with the engine: configured, listened to, and called, or asked for what may take its
--- time.
local M = {}

local configured ---@type superpower.Config?
local listening = false

--- Says a fault of the configuration once.
local function say_faults()
  local faults = require("superpower.config").faults()
  if #faults > 0 then
    require("superpower.notify").warn(table.concat(faults, "\n"))
  end
end

---@return superpower.Fault?
local function start()
  local engine = require("superpower.engine")
  if not listening then
    listening = true
    require("superpower.events").listen(engine)
  end
  local config = require("superpower.config").get()
  if configured == config then
    return
  end
  local _, err = engine.call("configure", { config = require("superpower.config").for_engine(config) })
  if err then
    return err
  end
  configured = config
  say_faults()
end

--- Calls an operation of the engine.
---@param op string
---@param fields? table<string, any>
---@return any value, superpower.Fault? err
function M.call(op, fields)
  local err = start()
  if err then
    return nil, err
  end
  return require("superpower.engine").call(op, fields or {})
end

--- Asks for what may take its time; `callback` gets what `call` would give, from the main loop. Headless, where nothing
--- else goes on, it is waited for.
---@param op string
---@param fields table<string, any>
---@param callback fun(value: any, err: superpower.Fault?)
function M.ask(op, fields, callback)
  if require("superpower.notify").headless() then
    return callback(M.call(op, fields))
  end
  local err = start()
  if err then
    return callback(nil, err)
  end
  require("superpower.asks").ask(op, fields, callback)
end

--- The project's root for the current buffer.
---@return string? root, superpower.Fault? err
function M.project()
  local fields = { cwd = vim.uv.cwd() }
  if not fields.cwd then
    local words = "the working directory is not there any more: change to one that is, with :cd"
    return nil, require("superpower.faults").new("no-directory", words)
  end
  local name = vim.api.nvim_buf_get_name(0)
  if vim.bo.buftype == "" and name ~= "" then
    fields.file = vim.fn.fnamemodify(name, ":p")
  end
  local value, err = M.call("project", fields)
  if err then
    return nil, err
  end
  return value.root
end

--- The root that a verb acts on: of the run that it names, where that is known here; else of the run that this editor
--- drives or shows, else of the buffer.
---@param run_id? string
---@return string? root, superpower.Fault? err
function M.root(run_id)
  local runs = require("superpower.runs")
  local known = run_id and runs.root_of(run_id)
  if known then
    return known
  end
  local shown = runs.get()
  if shown and (shown.state == "running" or shown.state == "paused") then
    return shown.root
  end
  local root, err = M.project()
  if not root and shown then
    return shown.root
  end
  return root, err
end

--- The newest state of a project's run, asked from the engine and remembered. Of a run that is named it is only asked: it
--- need not be the one that the project is at.
---@param root string
---@param run_id? string
---@return superpower.Snapshot? run, superpower.Fault? err
function M.status(root, run_id)
  local run, err = M.call("status", { root = root, run_id = run_id })
  if err or run == nil or run == vim.NIL then
    return nil, err
  elseif run_id then
    return run
  end
  require("superpower.runs").put(run)
  if not require("superpower.notify").headless() then
    require("superpower.watch").start(root)
  end
  return run
end

return M
