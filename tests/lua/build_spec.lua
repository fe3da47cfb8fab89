-- Building and installing: the scripts, and the module that calls them from within the editor.

local T = require("harness")
local describe, it, eq, ok, contains = T.describe, T.it, T.eq, T.ok, T.contains

--- A checkout with only the files that building needs, and a fake `cargo` in PATH.
local function checkout(cargo)
  local dir = T.dir()
  for _, file in ipairs({
    "scripts/lib.sh",
    "scripts/build.sh",
    "scripts/install-library.sh",
  }) do
    T.write(dir .. "/" .. file, T.read(T.root .. "/" .. file))
    vim.fn.setfperm(dir .. "/" .. file, "rwxr-xr-x")
  end
  T.sh({ "cp", "-R", T.root .. "/lua", dir .. "/lua" })
  if cargo then
    T.write(dir .. "/bin/cargo", "#!/bin/sh\n" .. cargo .. "\n")
    vim.fn.setfperm(dir .. "/bin/cargo", "rwxr-xr-x")
  end
  return dir
end

local BUILDS = [[mkdir -p target/release && cp "$SUPERPOWER_NATIVE" target/release/libsuperpower.so]]

local function build(dir, path, cwd)
  local nvim = T.child({ plugin = false, env = { PATH = path or (dir .. "/bin:" .. vim.env.PATH) } })
  return nvim:lua(
    [[
    local dir, cwd = ...
    vim.opt.runtimepath:prepend(dir)
    if cwd then vim.cmd.cd(cwd) end
    local said, answered = {}, "no answer"
    vim.notify = function(text) table.insert(said, text) end
    local built = require("superpower.build").run(nil, function(value) answered = value end)
    return { built = built, answered = answered, said = table.concat(said, "\n") }
  ]],
    dir,
    cwd
  )
end

describe("building from within the editor", function()
  it("installs what cargo built, and leaves nothing half written", function()
    local dir = checkout(BUILDS)
    local result = build(dir)
    eq(true, result.built, result.said)
    eq(true, result.answered)
    contains(result.said, "is built")
    eq({ "libsuperpower.so" }, vim.fn.readdir(dir .. "/lib"))
    local nvim = T.child({ plugin = false, env = { SUPERPOWER_NATIVE = "" } })
    nvim:lua("vim.opt.runtimepath:prepend(...)", dir)
    ok(nvim:lua("return (require('superpower.engine').load())"))
    eq(dir .. "/lib/libsuperpower.so", nvim:lua("return require('superpower.engine').info().path"))
  end)

  it("shows the output of cargo when it fails", function()
    local result = build(checkout([[echo "error: a fault on purpose" >&2; exit 101]]))
    eq(false, result.built)
    eq(false, result.answered)
    contains(result.said, "a fault on purpose")
  end)

  it("runs no program that the project brings", function()
    local dir, project = checkout(BUILDS), T.dir()
    for _, place in ipairs({ ".", "tools" }) do
      for _, name in ipairs({ "cargo", "sh", "install" }) do
        T.write(("%s/%s/%s"):format(project, place, name), "#!/bin/sh\ntouch " .. project .. "/ran\nexit 1\n")
        vim.fn.setfperm(("%s/%s/%s"):format(project, place, name), "rwxr-xr-x")
      end
    end
    for _, place in ipairs({ "", ".", "tools", "./tools", project .. "/tools" }) do
      local result = build(dir, ("%s:%s/bin:%s"):format(place, dir, vim.env.PATH), project)
      eq(true, result.built, result.said)
      eq(nil, vim.uv.fs_stat(project .. "/ran"), place)
    end
  end)

  it("reports that Rust is missing", function()
    local dir = checkout(nil)
    local result = build(dir, "/nowhere")
    eq(false, result.built)
    contains(result.said, "install Rust")
    contains(result.said, "make build")
    contains(result.said, dir)
  end)
end)

describe("install-library.sh", function()
  it("refuses a folder without a library", function()
    local dir = T.dir()
    local done = T.sh({ T.root .. "/scripts/install-library.sh", dir, dir .. "/lib" })
    ok(done.code ~= 0)
    contains(done.stderr, "no library")
  end)
end)

describe("nvim-path.sh", function()
  local script = T.root .. "/scripts/nvim-path.sh"

  it("prints the real binary, and nothing else, on standard output", function()
    local done = T.sh({ script }, { env = { NVIM = vim.v.progpath } })
    eq(0, done.code, done.stderr)
    eq(vim.v.progpath .. "\n", done.stdout)
  end)

  it("sees through a launcher", function()
    local launcher = T.write(T.dir() .. "/nvim", ('#!/bin/sh\nexec "%s" "$@"\n'):format(vim.v.progpath))
    vim.fn.setfperm(launcher, "rwxr-xr-x")
    eq(vim.v.progpath .. "\n", T.sh({ script }, { env = { NVIM = launcher } }).stdout)
  end)

  it("refuses a program that is not Neovim, or too old", function()
    local old = T.write(T.dir() .. "/nvim", "#!/bin/sh\necho NVIM v0.9.5\n")
    vim.fn.setfperm(old, "rwxr-xr-x")
    for _, program in ipairs({ "/bin/true", "/no/such/program", old }) do
      local done = T.sh({ script }, { env = { NVIM = program } })
      ok(done.code ~= 0, program)
      eq("", done.stdout)
      contains(done.stderr, program)
    end
  end)
end)

describe("check-library.sh", function()
  local function check(body)
    local dir = T.dir()
    T.write(dir .. "/x.c", body)
    local made = T.sh({ "cc", "-shared", "-fPIC", "-o", dir .. "/x.so", dir .. "/x.c" })
    eq(0, made.code, made.stderr)
    return T.sh({ T.root .. "/scripts/check-library.sh", dir .. "/x.so" })
  end

  it("passes the library under test", function()
    if not T.library():find("release", 1, true) and not T.library():find("/lib/", 1, true) then
      T.skip("no release library")
    end
    local done = T.sh({ T.root .. "/scripts/check-library.sh", T.library() })
    eq(0, done.code, done.stderr)
  end)

  it("refuses symbols of Neovim, of libuv and of anyone else", function()
    for _, symbol in ipairs({ "nvim_open_win", "uv_async_send", "somebody_elses" }) do
      local done = check(
        ("void lua_pushnil(void *); void %s(void); void f(void) { lua_pushnil(0); %s(); }"):format(symbol, symbol)
      )
      ok(done.code ~= 0, symbol)
      contains(done.stderr, symbol)
    end
    eq(0, check("void lua_pushnil(void *); void f(void) { lua_pushnil(0); }").code)
  end)
end)
