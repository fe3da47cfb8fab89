-- The Lua specs' runner:  nvim -u NONE -i NONE -n --headless -l tests/lua/run.lua [WORD...]
--
-- Runs every tests/lua/**/*_spec.lua, or those whose path holds one of the WORDs, one line a file, and ends with
-- `N passed, N failed`. Exit status 1 if anything failed. Environment:
--
--   T=text              only tests whose full name holds the text (plain)
--   V=1                 a line for every test, with its time
--   J=2                 how many files run at a time, each in a process of its own; 1: all in this one
--   SUPERPOWER_NATIVE   the library under test; default: the newest of lib/, target/release/, target/debug/
--   SUPERPOWER_TEST_TIMEOUT   seconds that a test may take before its children are killed (default 60)
--
-- A spec file is plain Lua, never run against a mocked editor: it drives child Neovims, each in a sandbox of its own
-- (HOME and all XDG directories are fresh, nothing of yours is seen). In a spec:
--
--   local T = require("harness")
--   local describe, it, eq, ok = T.describe, T.it, T.eq, T.ok
--   describe("a thing", function()
--     T.before_each(function() … end)           -- also T.after_each; both for the enclosing describe
--     it("does this", function()
--       local nvim = T.child()                  -- stopped, and its sandbox removed, when the test ends
--       eq(3, nvim:lua("return ...", 3))        -- eq(expected, actual, hint?), deep
--       nvim:cmd("Superpower"); nvim:feed("<CR>")
--       nvim:wait_screen("choose one")          -- plain text anywhere on the screen, or fails showing the screen
--     end)
--   end)
--
-- Assertions   T.eq(expected, actual, hint?)   T.ok(value, hint?)   T.contains(text, part)   T.lacks(text, part)
--              T.matches(text, lua_pattern)   T.fails(fn, part?) -> message   T.skip(reason): ends this test, counted apart
-- Files        T.root: the checkout   T.dir() -> a directory removed after the test   T.write(path, text) -> path
--              T.read(path) -> text or nil   T.exists(path)
-- Others       T.wait(fn, ms?, what?) -> what fn answered: waits until it is truthy   T.sh(cmd, opts?) -> {code, stdout, stderr}
--              T.finally(fn): runs when the test ends
--
-- T.child(opts?) -> child. opts, all optional: args = {} (after the defaults), env = {}, cwd = path (default: the
-- child's project), plugin = true (put the checkout on the runtimepath and source plugin/), init = Lua text run
-- before plugin/ is sourced, columns = 100, lines = 30, files = { ["path in the project"] = text }
--
--   child.dir, child.home, child.project   the sandbox; project holds an empty .claude/ and is the working directory
--   child:lua(code, ...)        runs code, with ..., in the child and gives what it returns; errors are errors
--   child:async(code, ...)      the same without waiting (for what blocks: input(), confirm(), a wait)
--   child:cmd(ex) -> output     child:eval(vimscript) -> value
--   child:feed(keys)            as typed, <CR> notation; returns at once
--   child:screen() -> lines     child:text() -> the same as one string       child:resize(columns, lines)
--   child:wait(code, ms?, what?) -> what the Lua expression or chunk answered once it was truthy (default 5 s)
--   child:wait_screen(text, ms?)   child:wait_no_screen(text, ms?)
--   child:messages() -> text of :messages       child:mode() -> { mode, blocking }
--   child:highlights(text) -> the extmark highlight groups at the start of the text, which is on the screen
--   child:alive()   child:pid()   child:restart(opts?): same sandbox, new process
--   child:quit(ms?) -> exit status after :qa!     child:kill(signal?)   child:stop()
--
-- Requests to a child that waits for a key (a prompt, getchar) fail at once, saying so, instead of hanging.

local here = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")
package.path = here .. "/?.lua;" .. here .. "/?/init.lua;" .. package.path

local T = require("harness")

local function spec_files(words)
  local found = vim.fs.find(function(name)
    return name:match("_spec%.lua$") ~= nil
  end, { path = here, type = "file", limit = math.huge })
  table.sort(found)
  return vim.tbl_filter(function(path)
    local short = path:sub(#here + 2)
    return #words == 0
      or vim.iter(words):any(function(word)
        return word == "=" .. short or short:find(word, 1, true) ~= nil
      end)
  end, found)
end

local function say(text)
  io.stdout:write(text, "\n")
  io.stdout:flush()
end

local total = { passed = 0, failed = 0, skipped = 0 }

--- Runs one file in this process.
local function run_here(path)
  local started = vim.uv.hrtime()
  local result = T.run_file(path, { only = vim.env.T, verbose = vim.env.V == "1", say = say })
  local seconds = (vim.uv.hrtime() - started) / 1e9
  for key in pairs(total) do
    total[key] = total[key] + result[key]
  end
  local skipped = result.skipped > 0 and (", %d skipped"):format(result.skipped) or ""
  local word = result.failed > 0 and "FAILED" or "ok"
  local line = "%-6s %-32s %d passed, %d failed%s (%.1f s)"
  say(line:format(word, path:sub(#here + 2), result.passed, result.failed, skipped, seconds))
  for _, failure in ipairs(result.failures) do
    say("  x " .. failure.name)
    say("    " .. failure.message:gsub("\n", "\n    "))
  end
end

--- Runs each file in a process of its own, several at a time, because specs mostly wait.
local function run_apart(paths, jobs)
  -- The largest files first, because they probably take longest and should not run alone at the end.
  table.sort(paths, function(a, b)
    return vim.uv.fs_stat(a).size > vim.uv.fs_stat(b).size
  end)
  local active, next_one = 0, 1
  local function start()
    local path = paths[next_one]
    next_one, active = next_one + 1, active + 1
    local cmd =
      { vim.v.progpath, "-u", "NONE", "-i", "NONE", "-n", "--headless", "-l", arg[0], "=" .. path:sub(#here + 2) }
    vim.system(cmd, { text = true, env = { J = "1" } }, function(done)
      active = active - 1
      local output, passed, failed, skipped = done.stdout:match("^(.-)(%d+) passed, (%d+) failed,? ?(%d*)[ %l]*\n*$")
      if not output then
        output, passed, failed = ("FAILED %s ended with status %d\n%s"):format(path, done.code, done.stdout), 0, 1
      end
      io.stdout:write(output, done.stderr)
      io.stdout:flush()
      total.passed = total.passed + passed
      total.failed = total.failed + failed
      total.skipped = total.skipped + (tonumber(skipped) or 0)
    end)
  end
  while next_one <= #paths or active > 0 do
    while next_one <= #paths and active < jobs do
      start()
    end
    vim.wait(20)
  end
end

local files = spec_files(vim.list_slice(_G.arg or {}, 1))
local jobs = tonumber(vim.env.J) or 2
if #files == 0 then
  say("no spec file matches")
  total.failed = 1
elseif #files == 1 or jobs == 1 then
  vim.iter(files):each(run_here)
else
  run_apart(files, jobs)
end
local skipped = total.skipped > 0 and (", %d skipped"):format(total.skipped) or ""
say(("%d passed, %d failed%s"):format(total.passed, total.failed, skipped))
os.exit(total.failed == 0 and 0 or 1, true)
