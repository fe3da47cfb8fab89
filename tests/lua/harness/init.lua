-- The functions for specs. tests/lua/run.lua describes them.

local Child = require("harness.child")

local T = {}

T.root = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h:h:h:h")

---@class harness.Test
---@field name string
---@field run fun()
---@field before fun()[]
---@field after fun()[]

--- The library under test.
function T.library()
  return Child.library(T.root)
end

local tests ---@type harness.Test[]
local scope ---@type { name: string, before: fun()[], after: fun()[] }
local cleanups = {} ---@type fun()[]
local SKIP = {}

local function joined(outer, name)
  return outer == "" and name or (outer .. " " .. name)
end

--- Groups tests under a name.
function T.describe(name, body)
  local outer = scope
  scope =
    { name = joined(outer.name, name), before = vim.list_slice(outer.before), after = vim.list_slice(outer.after) }
  body()
  scope = outer
end

--- Declares a test.
function T.it(name, body)
  tests[#tests + 1] = { name = joined(scope.name, name), run = body, before = scope.before, after = scope.after }
end

function T.before_each(body)
  table.insert(scope.before, body)
end

function T.after_each(body)
  table.insert(scope.after, 1, body)
end

--- Calls `fn` when the test has ended, also after a failure; the last one first.
function T.finally(body)
  table.insert(cleanups, 1, body)
end

--- Ends the test and counts it as skipped.
function T.skip(reason)
  error(setmetatable({ reason = reason }, SKIP), 0)
end

local function shown(value)
  if type(value) == "string" and #value > 4000 then
    value = ("%s\n… (%d bytes in all)"):format(value:sub(1, 4000), #value)
  end
  return type(value) == "string" and value:find("\n") and ("\n" .. value) or vim.inspect(value)
end

local function fail(message, hint)
  error(hint and (hint .. ": " .. message) or message, 3)
end

function T.eq(expected, actual, hint)
  if not vim.deep_equal(expected, actual) then
    fail(("expected %s\n     got %s"):format(shown(expected), shown(actual)), hint)
  end
end

function T.ok(value, hint)
  if not value then
    fail(("expected a true value, got %s"):format(shown(value)), hint)
  end
  return value
end

function T.contains(text, part, hint)
  if type(text) ~= "string" or not text:find(part, 1, true) then
    fail(("expected to find %s in %s"):format(vim.inspect(part), shown(text)), hint)
  end
end

function T.lacks(text, part, hint)
  if type(text) ~= "string" or text:find(part, 1, true) then
    fail(("expected not to find %s in %s"):format(vim.inspect(part), shown(text)), hint)
  end
end

function T.matches(text, pattern, hint)
  if type(text) ~= "string" or not text:find(pattern) then
    fail(("expected a match of %s in %s"):format(vim.inspect(pattern), shown(text)), hint)
  end
end

--- Returns the message of the error that `fn` raises.
function T.fails(fn, part)
  local fine, message = pcall(fn)
  if fine then
    fail("expected an error", nil)
  end
  message = type(message) == "string" and message or vim.inspect(message)
  if part and not message:find(part, 1, true) then
    fail(("expected an error with %s, got %s"):format(vim.inspect(part), message), nil)
  end
  return message
end

--- Waits until `fn` returns a true value, and returns it.
function T.wait(fn, ms, what)
  local answer
  local done = vim.wait(ms or 5000, function()
    answer = fn()
    return answer and true or false
  end, 10)
  if not done then
    error(("waited %d ms for %s"):format(ms or 5000, what or "a condition"), 2)
  end
  return answer
end

--- A fresh directory, removed after the test.
function T.dir()
  local path = vim.uv.fs_realpath(assert(vim.uv.fs_mkdtemp(vim.fs.dirname(vim.fn.tempname()) .. "/sp-XXXXXX")))
  T.finally(function()
    vim.fn.delete(path, "rf")
  end)
  return path
end

local state_home ---@type string?

--- The state directory of this test's user, which all editors of a test share.
function T.state()
  if not state_home then
    state_home = T.dir()
    T.finally(function()
      state_home = nil
    end)
  end
  return state_home
end

function T.write(path, text)
  vim.fn.mkdir(vim.fs.dirname(path), "p")
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  return path
end

function T.read(path)
  local file = io.open(path, "rb")
  if not file then
    return nil
  end
  local text = file:read("*a")
  file:close()
  return text
end

function T.exists(path)
  return vim.uv.fs_stat(path) ~= nil
end

--- Runs a command and waits for its exit.
function T.sh(cmd, opts)
  return vim.system(cmd, vim.tbl_extend("force", { text = true }, opts or {})):wait()
end

--- A child Neovim in a sandbox of its own, stopped when the test ends.
function T.child(opts)
  local child = Child.new(T.root, T.dir(), T.state(), opts or {})
  T.finally(function()
    child:stop()
  end)
  return child
end

local function clean_up()
  local problem
  while #cleanups > 0 do
    local fine, message = pcall(table.remove(cleanups, 1))
    problem = problem or (not fine and message) or nil
  end
  return problem
end

local function described(message)
  if getmetatable(message) == SKIP then
    return message
  end
  message = type(message) == "string" and message or vim.inspect(message)
  local trace = debug.traceback("", 2):gsub("\n[^\n]*harness/init.lua[^\n]*", ""):gsub("\n%s*%[C%][^\n]*", "")
  return message .. trace:gsub("\nstack traceback:", "", 1)
end

--- Runs one test under a watchdog: a child that hangs is killed, which ends the request that waits for it.
local function run_test(test)
  local limit = tonumber(vim.env.SUPERPOWER_TEST_TIMEOUT) or 60
  local watchdog, late = assert(vim.uv.new_timer()), false
  watchdog:start(limit * 1000, 1000, function()
    late = true
    Child.kill_all()
  end)
  local fine, message = xpcall(function()
    vim.iter(test.before):each(function(body)
      body()
    end)
    test.run()
  end, described)
  for _, body in ipairs(test.after) do
    local cleaned, problem = xpcall(body, described)
    if not cleaned and fine then
      fine, message = false, problem
    end
  end
  local problem = clean_up()
  watchdog:close()
  if fine and problem then
    fine, message = false, "while cleaning up: " .. tostring(problem)
  end
  if late then
    fine, message = false, ("took longer than %d s; its children were killed\n%s"):format(limit, tostring(message))
  end
  return fine, message
end

--- Runs the tests of one file.
function T.run_file(path, opts)
  tests, scope = {}, { name = "", before = {}, after = {} }
  local result = { passed = 0, failed = 0, skipped = 0, failures = {} }
  local function failed(name, message)
    result.failed = result.failed + 1
    table.insert(result.failures, { name = name, message = tostring(message) })
  end
  local loaded, message = xpcall(dofile, described, path)
  if not loaded then
    failed("the file itself", message)
    return result
  end
  for _, test in ipairs(tests) do
    if not opts.only or test.name:find(opts.only, 1, true) then
      local started = vim.uv.hrtime()
      local fine, why = run_test(test)
      local word = "passed"
      if fine then
        result.passed = result.passed + 1
      elseif getmetatable(why) == SKIP then
        word = "skipped (" .. why.reason .. ")"
        result.skipped = result.skipped + 1
      else
        word = "FAILED"
        failed(test.name, why)
      end
      if opts.verbose then
        opts.say(("       %s: %s (%d ms)"):format(test.name, word, (vim.uv.hrtime() - started) / 1e6))
      end
    end
  end
  return result
end

return T
