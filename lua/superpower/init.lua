--- The Lua API. Every function that drives takes a callback `(err, value)`; without one, an error is shown.
local lazy = require("superpower.base.lazy")

local boot = lazy("superpower.boot")

local M = {}

--- Loads a module of the plugin when it is needed: `require("superpower")` itself loads nothing.
---@param module string
---@return table
local function load(module)
  return boot.load(module)
end

--- Checks the types of arguments. A wrong one is reported like any other error.
---@param callback any
---@param wanted table<string, { [1]: any, [2]: string }> name to value and type; all but `name` may be nil
---@return boolean
local function fits(callback, wanted)
  local words ---@type string?
  for name, value in pairs(wanted) do
    if type(value[1]) ~= value[2] and (value[1] ~= nil or name == "name") then
      words = ("%s must be a %s, not %s"):format(name, value[2], type(value[1]))
    end
  end
  if callback ~= nil and type(callback) ~= "function" then
    words, callback = ("the callback must be a function, not %s"):format(type(callback)), nil
  end
  if words then
    local err = load("base.errors").new("bad-argument", words)
    if callback then
      callback(err)
    else
      load("notify").engine_error(err)
    end
  end
  return words == nil
end

--- Stores the configuration; optional. The same as setting `vim.g.superpower`.
---@param opts? superpower.Opts
function M.setup(opts)
  vim.g.superpower = opts
end

---@param name string
---@param opts? { inputs?: table<string, any>, harness?: string }
---@param callback? superpower.Callback value: `{ run_id }`
function M.run(name, opts, callback)
  if
    not fits(callback, {
      name = { name, "string" },
      opts = { opts, "table" },
      inputs = { type(opts) == "table" and opts.inputs or nil, "table" },
    })
  then
    return
  end
  load("verbs").run(name, opts, callback)
end

--- Returns the options and the callback of a verb that may be called with the callback alone.
---@param opts any
---@param callback any
---@return any opts, any callback
local function shifted(opts, callback)
  if type(opts) == "function" then
    return nil, opts
  end
  return opts, callback
end

--- The options of a verb that is called from here, whoever the caller says to be.
---@param opts table?
---@return table
local function from_lua(opts)
  return vim.tbl_extend("force", opts or {}, { how = "lua" })
end

--- Checks the options that name a run.
---@param opts any
---@param callback any
---@return boolean
local function names_run(opts, callback)
  return fits(callback, {
    opts = { opts, "table" },
    run_id = { type(opts) == "table" and opts.run_id or nil, "string" },
  })
end

---@param name? string|{ run_id: string } a superpower's name or a run's id; also `resume(callback)`
---@param callback? superpower.Callback value: `{ run_id, state, others }`
function M.resume(name, callback)
  name, callback = shifted(name, callback)
  local opts = type(name) == "table" and name or {}
  if type(name) == "table" then
    if not names_run(opts, callback) then
      return
    end
    name = nil
  elseif not fits(callback, { which = { name, "string" } }) then
    return
  end
  load("verbs").resume(name, from_lua({ run_id = opts.run_id }), callback)
end

---@param opts? { run_id?: string } also `pause(callback)`
---@param callback? superpower.Callback
function M.pause(opts, callback)
  opts, callback = shifted(opts, callback)
  if names_run(opts, callback) then
    load("verbs").pause(opts, callback)
  end
end

---@param opts? { run_id?: string } also `cancel(callback)`
---@param callback? superpower.Callback
function M.cancel(opts, callback)
  opts, callback = shifted(opts, callback)
  if names_run(opts, callback) then
    load("verbs").cancel(from_lua(opts), callback)
  end
end

--- Decides the named gate. Without `run_id` and `gate`: the one that this editor last showed, else the one that waits.
---@param opts superpower.Decide
---@param callback? superpower.Callback
function M.decide(opts, callback)
  if not fits(callback, { opts = { opts or false, "table" } }) then
    return
  end
  local shown = load("gate").shown()
  local fields = from_lua(opts)
  if not fields.run_id and not fields.gate and shown then
    fields = vim.tbl_extend("keep", fields, shown)
  end
  if fields.run_id and fields.gate then
    load("gate").decide(fields, callback or function(err)
      if err then
        load("notify").engine_error(err)
      end
    end)
  else
    load("verbs").decide(fields, callback)
  end
end

---@param opts? { comment?: string, run_id?: string } also `retry(callback)`
---@param callback? superpower.Callback
function M.retry(opts, callback)
  opts, callback = shifted(opts, callback)
  if names_run(opts, callback) then
    load("verbs").retry(from_lua(opts), callback)
  end
end

---@param opts? { run_id?: string } also `skip(callback)`
---@param callback? superpower.Callback
function M.skip(opts, callback)
  opts, callback = shifted(opts, callback)
  if names_run(opts, callback) then
    load("verbs").skip(from_lua(opts), callback)
  end
end

---@param op string
---@param fields table
---@return any? value, superpower.Error? err
local function in_project(op, fields)
  local session = load("session")
  local root, err = session.project()
  if not root then
    return nil, err
  end
  fields.root = root
  return session.call(op, fields)
end

--- Returns the superpowers of the current project.
---@return table[]? list, superpower.Error? err
function M.list()
  return in_project("list", {})
end

--- Returns what would run, be skipped and ask. Starts nothing.
---@param name string
---@param inputs? table<string, any>
---@return { stages: table[] }? plan, superpower.Error? err
function M.plan(name, inputs)
  return in_project("plan", { name = name, inputs = inputs or {} })
end

--- Returns the named run, else the one that this editor drives or shows, else the project's, or nil.
---@param opts? { run_id?: string }
---@return superpower.Snapshot? run, superpower.Error? err
function M.status(opts)
  local run_id = type(opts) == "table" and opts.run_id or nil
  local root, err = load("runs.current").root(run_id)
  if not root then
    return nil, run_id and err or nil
  end
  local run, fault = load("runs.current").status(root, run_id)
  return run, run_id and fault or nil
end

--- Returns a short string for a status line; empty if nothing is active or waits.
---@return string
function M.statusline()
  -- Nothing is loaded as long as no run is known.
  return package.loaded["superpower.runs"] and load("notices.statusline").get() or ""
end

--- Returns the problems of a declaration. Synchronous. A string with a newline is text, else a path from the working
--- directory.
---@param path_or_text string
---@return table[]? problems, superpower.Error? err
function M.check(path_or_text)
  local fields = {}
  if type(path_or_text) ~= "string" then
    local words = ("expected a path or a text, got %s"):format(type(path_or_text))
    return nil, load("base.errors").new("bad-argument", words)
  elseif path_or_text:find("\n", 1, true) then
    fields.text = path_or_text
  else
    fields.path = vim.fn.fnamemodify(path_or_text, ":p")
  end
  local session = load("session")
  fields.root = session.project()
  local value, err = session.call("check", fields)
  return value and value.diagnostics, err
end

return M
