-- The boundary between Lua and the native library: no argument of any kind crashes the editor.

local T = require("harness")
local describe, it, eq, ok, contains = T.describe, T.it, T.eq, T.ok, T.contains

--- Sets in a child: `native` is the raw library, `engine` our module.
local PRELUDE = [[
  engine = require("superpower.engine")
  function open()
    local loaded, err = engine.load()
    assert(loaded, err and err.message)
    native = package.loadlib(engine.info().path, "luaopen_superpower_native")()
  end
  open()
]]

local function child(opts)
  local nvim = T.child(vim.tbl_extend("force", { env = { SUPERPOWER_TEST_PANIC = "1" } }, opts or {}))
  nvim:lua(PRELUDE)
  return nvim
end

local function alive(nvim)
  ok(nvim:alive(), "the editor lives")
  local answer = nvim:lua([[return native.call('{"op":"no-such-operation"}')]])
  contains(answer, "unknown-op", "the door still answers")
  eq(2, nvim:lua("return 1 + 1"))
end

describe("the native library", function()
  it("offers what library.lua describes, and nothing else", function()
    local kinds = child():lua([[
      local kinds = {}
      for name, value in pairs(native) do kinds[name] = type(value) end
      return kinds
    ]])
    eq({
      attach = "function",
      call = "function",
      detach = "function",
      log = "function",
      poll = "function",
      protocol = "number",
      version = "string",
    }, kinds)
    local documented = {}
    for name in
      T.read(T.root .. "/lua/superpower/base/library.lua")
        :match("@class superpower.Native\n(.-)\n\n")
        :gmatch("@field (%w+)")
    do
      documented[name] = true
    end
    for name in pairs(kinds) do
      ok(documented[name], name .. " is documented")
    end
  end)

  for _, name in ipairs({ "call", "poll", "attach", "log", "detach" }) do
    it("answers data to every wrong thing, 100,000 times, through " .. name, function()
      local nvim = child()
      local report = nvim:lua(
        [[
        local name = ...
        local cyclic = {}
        cyclic.self = cyclic
        local wrong = {
          function() return end, function() return nil end, function() return vim.NIL end, function() return true end,
          function() return false end, function() return {} end, function() return cyclic end, function() return print end,
          function() return coroutine.create(print) end, function() return vim.uv.new_timer end, function() return 0 / 0 end,
          function() return 1 / 0 end, function() return -1 / 0 end, function() return -1 end, function() return 1.5 end,
          function() return 2 ^ 31 end, function() return -2 ^ 31 end, function() return 2 ^ 53 end, function() return 1e308 end,
          function() return 2 ^ 63 end, function() return 987654 end, function() return "" end, function() return "\0" end,
          function() return "\255\254\128" end, function() return "null" end, function() return "[]" end,
          function() return "{" end, function() return '{"op":5}' end, function() return '{"op":"no"}' end,
          function() return '{"op":null}' end, function() return '{"op":"\255"}' end, function() return '{"op":"no","x":1}' end,
          function() return '{"op":"no"} {"op":"no"}' end, function() return ("["):rep(5000) end,
          function() return ('{"op":'):rep(5000) end, function() return "1e999999" end, function() return '{"op":"\\ud800"}' end,
          function() return setmetatable({}, { __tostring = error, __index = error, __len = error }) end,
          function() return nil, nil, nil end, function() return "a", "b", {}, print end,
          function() return vim.empty_dict() end, function() return newproxy(true) end, function() return vim.re.compile("'a'") end,
          function() return require("ffi").new("int64_t", 7) end,
        }
        -- Some of these are valid for some function, which must answer ok. All others must answer err.
        local kinds, done = { ok = 0, err = 0, events = 0 }, 0
        for round = 1, 100000 do
          local answer = native[name](wrong[round % #wrong + 1]())
          assert(type(answer) == "string", "not a string")
          local kind = answer:sub(1, 7) == '{"err":' and "err" or answer:sub(1, 6) == '{"ok":' and "ok" or "events"
          kinds[kind] = kinds[kind] + 1
          if round % 97 == 0 then
            local data = vim.json.decode(answer)
            assert(kind ~= "err" or type(data.err.code) == "string" and type(data.err.message) == "string", answer)
          end
          done = done + 1
        end
        kinds.done = done
        return kinds
      ]],
        name
      )
      eq(100000, report.done)
      if name ~= "detach" then
        ok(report.err > 50000, "most were refused: " .. vim.inspect(report))
      end
      alive(nvim)
    end)
  end

  it("answers data to wrong fields, through every operation", function()
    local nvim = child()
    local names = nvim:lua([[return vim.json.decode(native.call('{"op":"schema"}')).ok.operations]])
    ok(#names > 20, "the operations are known")
    local report = nvim:lua(
      [[
      local names = ...
      local huge = ("y"):rep(1024 * 1024)
      local deep = {}
      for _ = 1, 90 do deep = { deep } end
      local wrong = { vim.NIL, false, true, 0, -1, 1.5, 1e300, "", "/", "/no/such/place", "no/such", "..", "a\0b", huge, deep, {}, { 1, 2 },
        vim.empty_dict(), { a = { b = vim.NIL } }, { "approve" }, "approve", "5.1", "ok" }
      local fields = { "root", "name", "inputs", "config", "path", "text", "file", "cwd", "run_id", "decision", "comment", "gate", "stage",
        "what", "which", "answer", "by", "id", "value", "error", "launch", "message", "digest", "harness", "grace_ms", "nonsense" }
      local asked, panics, slowest, slow = 0, {}, 0, ""
      local function ask(op, request)
        request.op = op
        local started = vim.uv.hrtime()
        local answer = vim.json.decode(native.call(vim.json.encode(request)))
        local took = (vim.uv.hrtime() - started) / 1e6
        if took > slowest then slowest, slow = took, op end
        assert(answer.ok ~= nil or type(answer.err) == "table" and type(answer.err.code) == "string", op)
        if answer.err and answer.err.code == "panic" then panics[op] = answer.err.message end
        asked = asked + 1
      end
      for _, op in ipairs(names) do
        if op ~= "stop" then
          ask(op, {})
          for _, value in ipairs(wrong) do
            local all = {}
            for _, field in ipairs(fields) do
              ask(op, { root = vim.uv.cwd(), name = "none", [field] = value })
              all[field] = value
            end
            ask(op, all)
          end
        end
      end
      for _, value in ipairs(wrong) do
        if type(value) ~= "number" then ask("stop", { grace_ms = value }) end
      end
      return { asked = asked, panics = panics, slowest = slowest, slow = slow }
    ]],
      names
    )
    eq({}, report.panics)
    ok(report.asked > 10000, tostring(report.asked))
    ok(report.slowest < 2000, ("%s took %d ms"):format(report.slow, report.slowest))
    alive(nvim)
  end)

  it("refuses what is too large, too deep or not text", function()
    local nvim = child()
    local codes = nvim:lua([[
      local function code(text)
        return vim.json.decode(native.call(text)).err.code
      end
      return {
        code(("x"):rep(17 * 1024 * 1024)),
        code(("["):rep(4 * 1024 * 1024)),
        code('{"op":"' .. ("y"):rep(8 * 1024 * 1024) .. '"}'),
        code(("\255"):rep(1024 * 1024)),
      }
    ]])
    eq({ "too-large", "bad-request", "unknown-op", "bad-request" }, codes)
    alive(nvim)
  end)

  it("writes to no file descriptor but its own pipe", function()
    local nvim = child()
    local answers = nvim:lua([[
      local answers = {}
      for fd = 0, 2 do answers[#answers + 1] = vim.json.decode(native.attach(fd)).err.code end
      local file = vim.uv.fs_open(vim.fn.tempname(), "w", 384)
      answers[#answers + 1] = vim.json.decode(native.attach(file)).err.code
      local fds = vim.uv.pipe()
      answers[#answers + 1] = vim.json.decode(native.attach(fds.read)).err.code
      return answers
    ]])
    for _, code in ipairs(answers) do
      eq("attach-failed", code)
    end
    eq(5, #answers)
    alive(nvim)
  end)

  it("outlives a panic in a call, under a lock and in a thread", function()
    local nvim = child()
    nvim:lua([[events = {}; engine.on("panic", function(event) table.insert(events, event) end)]])
    for _ = 1, 20 do
      for _, place in ipairs({ "call", "lock" }) do
        local err = nvim:lua("local _, err = engine.call('panic', { where = ... }); return err", place)
        eq("panic", err.code)
        contains(err.message, "drill")
      end
    end
    nvim:lua("engine.call('panic', { where = 'thread' })")
    local event = nvim:wait("events[1]", 2000, "the event of the thread's panic")
    contains(event.message, "drill: in a thread")
    contains(event.message, "superpower-drill")
    eq(nvim:lua("return engine.info().log"), event.log)
    eq(1, nvim:lua("return #events"), "a panic in a call is told by its answer")
    local log = T.read(event.log)
    for _, text in ipairs({ "drill: in a call", "drill: under the lock", "drill: in a thread", "panic_test.rs" }) do
      contains(log, text)
    end
    T.lacks(nvim:text(), "drill", "nothing on the screen")
    T.lacks(table.concat(nvim.stderr, "\n"), "drill", "nothing on the terminal")
    alive(nvim)
  end)

  it("does not panic on request without the test variable", function()
    local nvim = child({ env = {} })
    eq("unknown-op", nvim:lua("local _, err = engine.call('panic', { where = 'call' }); return err.code"))
  end)

  it("works when it was opened in a coroutine that has ended", function()
    local nvim = T.child({ env = { SUPERPOWER_TEST_PANIC = "1" } })
    nvim:lua([[
      coroutine.wrap(function() require("superpower.engine").load() end)()
      collectgarbage(); collectgarbage()
    ]])
    nvim:lua(PRELUDE)
    nvim:lua([[
      seen = 0
      engine.on("panic", function() seen = seen + 1 end)
      for round = 1, 2000 do
        coroutine.wrap(function() engine.call("no-such-operation") end)()
        if round % 100 == 0 then collectgarbage() end
      end
      engine.call("panic", { where = "thread" })
    ]])
    nvim:wait("seen == 1")
    alive(nvim)
  end)

  it("keeps the editor answering while events flood it, and loses none", function()
    local nvim = child()
    nvim:lua([[
      numbers, disorder, newest, worst = 0, 0, -1, 0
      engine.on("drill", function(event)
        if event.number ~= numbers then disorder = disorder + 1 end
        numbers = numbers + 1
      end)
      engine.on("drill-snapshot", function(event) newest = event.number end)
      local last = vim.uv.hrtime()
      local timer = vim.uv.new_timer()
      timer:start(1, 1, function()
        local now = vim.uv.hrtime()
        worst, last = math.max(worst, (now - last) / 1e6), now
      end)
      engine.call("panic", { where = "flood" })
    ]])
    nvim:wait("numbers == 20000", 20000, "all events")
    eq(0, nvim:lua("return disorder"), "in order")
    nvim:wait("newest == 19999", 1000, "the newest snapshot")
    local worst = nvim:lua("return worst")
    ok(worst < 250, ("the main loop stood still for %d ms"):format(worst))
    alive(nvim)
  end)

  it("wakes the main loop again after the module was reloaded", function()
    local nvim = child()
    nvim:lua([[
      package.loaded["superpower.engine"] = nil
      engine = require("superpower.engine")
      engine.on("panic", function() seen = true end)
      assert(engine.load())
      engine.call("panic", { where = "thread" })
    ]])
    nvim:wait("seen")
    alive(nvim)
  end)
end)

describe("engine.lua", function()
  it("loads nothing and starts nothing when it is required", function()
    local nvim = T.child()
    eq(nil, nvim:lua("return require('superpower.engine').info()"))
    eq({}, nvim:lua("return vim.api.nvim_get_autocmds({ event = 'VimLeavePre' })"))
    if T.exists("/proc/self/maps") then
      T.lacks(nvim:lua("return io.open('/proc/self/maps'):read('*a')"), "libsuperpower")
    end
  end)

  it("gives values and errors, and raises nothing", function()
    local nvim = child()
    local errors = nvim:lua([[
      local cyclic = {}
      cyclic.self = cyclic
      local codes = {}
      for _, case in ipairs({ { "no-such-operation" }, { "x", { f = print } }, { "x", cyclic }, { 5 }, { vim.NIL }, { "x", { a = "\255" } } }) do
        local value, err = engine.call(case[1], case[2])
        codes[#codes + 1] = value == nil and err.code or "none"
      end
      return codes
    ]])
    eq({ "unknown-op", "bad-argument", "bad-argument", "bad-request", "bad-request", "bad-request" }, errors)
  end)

  it("sends an empty map as a map, and leaves the caller's table alone", function()
    local nvim = T.child()
    local sent, own = unpack(nvim:lua([[
      local engine = require("superpower.engine")
      assert(engine.load())
      local index = 1
      while debug.getupvalue(engine.call, index) ~= "native" do index = index + 1 end
      local sent
      debug.setupvalue(engine.call, index, { call = function(text) sent = text; return '{"ok":1}' end })
      local fields = { inputs = {}, config = { harnesses = {}, conditions = {} } }
      engine.call("plan", fields)
      return { sent, { fields.op or "none", getmetatable(fields.inputs) == nil } }
    ]]))
    contains(sent, '"inputs":{}')
    contains(sent, '"harnesses":{}')
    contains(sent, '"conditions":[]')
    eq({ "none", true }, own)
  end)

  it("reports an error of an event handler once, and calls the others", function()
    local nvim = child()
    nvim:lua([[
      heard, said = 0, {}
      vim.notify = function(text) table.insert(said, text) end
      engine.on("panic", function() error("on purpose") end)
      local off = engine.on("panic", function() heard = heard + 100 end)
      engine.on("*", function() heard = heard + 1 end)
      off()
      for _ = 1, 3 do engine.call("panic", { where = "thread" }) end
    ]])
    nvim:wait("heard == 3")
    eq(1, nvim:lua("return #said"))
    contains(nvim:lua("return said[1]"), "on purpose")
  end)

  it("names the paths tried and the command when the library is missing", function()
    local nvim = T.child({ env = { SUPERPOWER_NATIVE = "" } })
    local copy = T.dir()
    for _, file in ipairs({ "/lua/superpower/engine.lua", "/lua/superpower/base/library.lua" }) do
      T.write(copy .. file, T.read(T.root .. file))
    end
    local err = nvim:lua(
      "vim.opt.runtimepath:prepend(...); local _, err = require('superpower.engine').call('health'); return err",
      copy
    )
    eq("library-missing", err.code)
    for _, path in ipairs({ "/lib/libsuperpower.so", "/target/release/libsuperpower.so", "/lib/libsuperpower.dylib" }) do
      contains(err.message, copy .. path)
    end
    contains(err.message, "make build")
    contains(err.message, copy)
    -- The library was built meanwhile. No restart is needed.
    vim.fn.mkdir(copy .. "/lib", "p")
    assert(vim.uv.fs_copyfile(T.library(), copy .. "/lib/libsuperpower.so"))
    ok(nvim:lua("return (require('superpower.engine').load())"))
    eq(copy .. "/lib/libsuperpower.so", nvim:lua("return require('superpower.engine').info().path"))
  end)

  it("reports what is wrong with a file that is not a library", function()
    local path = T.write(T.dir() .. "/libsuperpower.so", "not a library")
    local nvim = T.child({ env = { SUPERPOWER_NATIVE = path } })
    local err = nvim:lua("local _, err = require('superpower.engine').call('health'); return err")
    eq("library-broken", err.code)
    contains(err.message, path)
    contains(err.message, "make build")
  end)

  --- A library in C that imitates one of another version.
  local function foreign(body)
    local dir = T.dir()
    T.write(dir .. "/x.c", [[
      extern void lua_createtable(void *, int, int); extern void lua_pushinteger(void *, long);
      extern void lua_setfield(void *, int, const char *); extern void lua_pushstring(void *, const char *);
      int luaopen_superpower_native(void *state) { ]] .. body .. [[ return 1; }
    ]])
    local made = T.sh({ "cc", "-shared", "-fPIC", "-o", dir .. "/libsuperpower.so", dir .. "/x.c" })
    eq(0, made.code, made.stderr)
    return dir .. "/libsuperpower.so"
  end

  it("refuses a library of another protocol, with the command that rebuilds", function()
    local path =
      foreign([[lua_createtable(state, 0, 1); lua_pushinteger(state, 99); lua_setfield(state, -2, "protocol");]])
    local nvim = T.child({ env = { SUPERPOWER_NATIVE = path } })
    local err = nvim:lua("local _, err = require('superpower.engine').call('health'); return err")
    eq("protocol-mismatch", err.code)
    for _, text in ipairs({ path, "99", "make build", T.root, "restart Neovim" }) do
      contains(err.message, text)
    end
    eq({ path = path, library = 99, plugin = 2 }, err.data)
  end)

  it("answers requests on the main loop, in order, and none once the editor is left", function()
    local nvim = T.child()
    local heard = nvim:lua([[
      local engine, requests, heard = require("superpower.engine"), require("superpower.requests"), {}
      local function hear(value, err)
        table.insert(heard, err and err.code or "fine")
      end
      requests.ask("schema", {}, hear)
      requests.ask("nonsense", {}, hear)
      requests.ask("run", { inputs = function() end }, hear)
      requests.ask("stop", {}, hear)
      assert(#heard == 2, "only what was never asked is answered at once")
      vim.wait(5000, function() return #heard == 4 end)
      engine.stop()
      requests.ask("schema", {}, hear)
      vim.wait(50)
      return heard]])
    eq({ "bad-argument", "bad-request", "fine", "unknown-op", "stopped" }, heard)
  end)

  it("says why a library did not start", function()
    local nvim = T.child({ env = { SUPERPOWER_NATIVE = foreign([[lua_pushstring(state, "no engine today");]]) } })
    local err = nvim:lua("local _, err = require('superpower.engine').call('health'); return err")
    eq("library-broken", err.code)
    contains(err.message, "no engine today")
  end)

  it("keeps working while its library is replaced", function()
    local dir = T.dir()
    local place = dir .. "/lib/libsuperpower.so"
    local from = vim.fs.dirname(T.library())
    local function install()
      local done = T.sh({ T.root .. "/scripts/install-library.sh", from, dir .. "/lib" })
      eq(0, done.code, done.stderr)
    end
    install()
    local nvim = child({ env = { SUPERPOWER_NATIVE = place, SUPERPOWER_TEST_PANIC = "1" } })
    local before = vim.uv.fs_stat(place).ino
    for _ = 1, 3 do
      install()
      alive(nvim)
      eq("panic", nvim:lua("local _, err = engine.call('panic', { where = 'call' }); return err.code"))
    end
    ok(vim.uv.fs_stat(place).ino ~= before, "renamed over, not overwritten")
    eq(
      { "libsuperpower.so" },
      vim.tbl_filter(function(name)
        return name:find("so") ~= nil
      end, vim.fn.readdir(dir .. "/lib"))
    )
    alive(child({ env = { SUPERPOWER_NATIVE = place } }))
  end)

  it("is silent when the editor is left, and handles no more events", function()
    local nvim = child()
    nvim:lua([[engine.on("*", function() vim.api.nvim_err_writeln("heard after the end") end)]])
    local started = vim.uv.hrtime()
    nvim:async([[engine.call("panic", { where = "thread" }); vim.cmd("qa!")]])
    T.wait(function()
      return nvim.code
    end, 3000, "the child's end")
    eq(0, nvim.code)
    ok((vim.uv.hrtime() - started) / 1e6 < 1500, "leaving is quick")
    eq("", table.concat(nvim.stderr, "\n"))
  end)

  it("polls for events without a pipe", function()
    local nvim = T.child({ env = { SUPERPOWER_TEST_PANIC = "1" } })
    nvim:lua("vim.uv.pipe = function() return nil, 'EMFILE' end")
    nvim:lua(PRELUDE)
    eq("timer", nvim:lua("return engine.info().waking"))
    alive(nvim)
  end)
end)
