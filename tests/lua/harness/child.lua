-- A child Neovim in a sandbox, driven over RPC. tests/lua/run.lua describes it.

local Child = {}
Child.__index = Child

local running = {} ---@type table<integer, table> by process id

--- The library that the children load, unless a spec names another: the one that was built last.
function Child.library(root)
  if vim.env.SUPERPOWER_NATIVE and vim.env.SUPERPOWER_NATIVE ~= "" then
    return vim.env.SUPERPOWER_NATIVE
  end
  local newest, at
  for _, place in ipairs({ "lib", "target/release", "target/debug" }) do
    for _, suffix in ipairs({ "so", "dylib" }) do
      local path = ("%s/%s/libsuperpower.%s"):format(root, place, suffix)
      local stat = vim.uv.fs_stat(path)
      if stat and (not at or stat.mtime.sec > at) then
        newest, at = path, stat.mtime.sec
      end
    end
  end
  return newest
end

--- Sets the default of the option `driver`, so that the same specs can be played with both: a process that outlives its
--- editor is left to the specs that are about it.
local DRIVER = [[
  local root, driver = ...
  package.preload["superpower.base.options"] = function()
    local options = dofile(root .. "/lua/superpower/base/options.lua")
    for _, option in ipairs(options) do
      option.default = option.path == "driver" and driver or option.default
    end
    return options
  end
]]

local function environment(self, extra)
  local env = {
    PATH = vim.env.PATH,
    LANG = "C.UTF-8",
    TERM = "xterm-256color",
    USER = vim.env.USER or "someone",
    SHELL = "/bin/sh",
    TMPDIR = vim.env.TMPDIR,
    VIMRUNTIME = vim.env.VIMRUNTIME,
    HOME = self.home,
    XDG_CONFIG_HOME = self.home .. "/.config",
    XDG_DATA_HOME = self.home .. "/.local/share",
    XDG_STATE_HOME = self.state,
    XDG_CACHE_HOME = self.home .. "/.cache",
    XDG_RUNTIME_DIR = self.dir .. "/runtime",
    NVIM_LOG_FILE = self.dir .. "/nvim.log",
    GIT_CONFIG_NOSYSTEM = "1",
    GIT_AUTHOR_NAME = "Someone",
    GIT_AUTHOR_EMAIL = "someone@example.invalid",
    GIT_COMMITTER_NAME = "Someone",
    GIT_COMMITTER_EMAIL = "someone@example.invalid",
    SUPERPOWER_NATIVE = Child.library(self.root),
    RUST_BACKTRACE = vim.env.RUST_BACKTRACE,
  }
  for name, value in pairs(extra or {}) do
    env[name] = value or nil
  end
  return env
end

--- Starts a child. `dir` is its sandbox, `state` the directory of its user's state.
function Child.new(root, dir, state, opts)
  local self = setmetatable(
    { root = root, dir = dir, home = dir .. "/home", project = dir .. "/project", state = state, opts = opts },
    Child
  )
  for _, path in ipairs({ self.home, self.project .. "/.claude", dir .. "/runtime" }) do
    vim.fn.mkdir(path, "p", tonumber("700", 8))
  end
  for path, text in pairs(opts.files or {}) do
    path = self.project .. "/" .. path
    vim.fn.mkdir(vim.fs.dirname(path), "p")
    local file = assert(io.open(path, "wb"))
    file:write(text)
    file:close()
  end
  self:start()
  return self
end

function Child:start()
  local opts = self.opts
  local cmd = { vim.v.progpath, "--embed", "--headless", "-u", "NONE", "-i", "NONE", "-n" }
  vim.list_extend(cmd, opts.args or {})
  self.stderr, self.code = {}, nil
  self.channel = vim.fn.jobstart(cmd, {
    rpc = true,
    cwd = opts.cwd or self.project,
    clear_env = true,
    env = environment(self, opts.env),
    on_stderr = function(_, data)
      vim.list_extend(self.stderr, data)
    end,
    on_exit = function(_, code)
      self.code = code
      running[self.job_pid] = nil
    end,
  })
  assert(self.channel > 0, "the child Neovim did not start")
  self.job_pid = vim.fn.jobpid(self.channel)
  running[self.job_pid] = self
  self:lua("vim.o.columns, vim.o.lines = ...", opts.columns or 100, opts.lines or 30)
  if opts.plugin ~= false then
    self:lua("vim.opt.runtimepath:prepend(...)", self.root)
    self:lua(DRIVER, self.root, opts.driver or vim.env.SUPERPOWER_SPEC_DRIVER or "editor")
  end
  if opts.init then
    self:lua(opts.init)
  end
  if opts.plugin ~= false then
    self:lua("vim.cmd('runtime! plugin/superpower.lua')")
  end
end

local function request(self, method, ...)
  if self.code then
    error(("the child has ended with status %d\n%s"):format(self.code, table.concat(self.stderr, "\n")), 3)
  end
  local answer = { pcall(vim.rpcrequest, self.channel, method, ...) }
  if not answer[1] then
    vim.wait(200, function()
      return self.code ~= nil
    end, 5)
    local ended = self.code
        and ("\nthe child has ended with status %d\n%s"):format(self.code, table.concat(self.stderr, "\n"))
      or ""
    error(tostring(answer[2]) .. ended, 3)
  end
  return answer[2]
end

--- Raises an error if the child waits for a key, because it would not answer a request.
local function ready(self)
  local mode = request(self, "nvim_get_mode")
  if mode.blocking then
    error(("the child waits for a key (mode %s)"):format(mode.mode), 3)
  end
end

local function denil(value)
  if value == vim.NIL then
    return nil
  end
  return value
end

function Child:lua(code, ...)
  ready(self)
  return denil(request(self, "nvim_exec_lua", code, { ... }))
end

function Child:async(code, ...)
  vim.rpcnotify(self.channel, "nvim_exec_lua", code, { ... })
end

function Child:cmd(command)
  ready(self)
  return request(self, "nvim_exec2", command, { output = true }).output or ""
end

function Child:eval(expression)
  ready(self)
  return denil(request(self, "nvim_eval", expression))
end

function Child:feed(keys)
  request(self, "nvim_input", keys)
end

--- Types keys, and waits until they are read and performed, so that a test can check that something did not happen. The
--- keys must leave the editor in a mode where an unmapped key does nothing. That key is typed until it is seen, because an
--- error drops the keys that were typed ahead.
function Child:press(keys)
  local before = self:lua([[
    if not _G.harness_pressed then
      _G.harness_pressed = 0
      local last = vim.keycode("<F24>")
      vim.on_key(function(_, typed)
        if typed == last then
          _G.harness_pressed = _G.harness_pressed + 1
        end
      end)
    end
    return _G.harness_pressed
  ]])
  self:feed(keys)
  for _ = 1, 50 do
    self:feed("<F24>")
    local read = vim.wait(200, function()
      return not self:mode().blocking and self:lua("return _G.harness_pressed") > before
    end, 10)
    if read then
      return
    end
  end
  error("the last key was not read", 2)
end

--- Waits until the keys of the decision window with the cursor count, which is when its footer is no longer dimmed.
function Child:wait_armed()
  self:wait(
    [[
    local footer = vim.api.nvim_win_get_config(0).footer or {}
    return #footer > 0 and footer[#footer][2] ~= "SuperpowerDim"
  ]],
    nil,
    "keys that count"
  )
end

function Child:mode()
  return request(self, "nvim_get_mode")
end

function Child:messages()
  return self:cmd("messages")
end

function Child:resize(columns, lines)
  self:lua("vim.o.columns, vim.o.lines = ...; vim.cmd.doautocmd('VimResized')", columns, lines)
end

function Child:screen()
  return self:lua([[
    vim.cmd.redraw()
    local lines = {}
    for row = 1, vim.o.lines do
      local cells = {}
      for column = 1, vim.o.columns do cells[column] = vim.fn.screenstring(row, column) end
      lines[row] = (table.concat(cells):gsub("%s+$", ""))
    end
    return lines
  ]])
end

function Child:text()
  return table.concat(self:screen(), "\n")
end

function Child:highlights(text)
  return self:lua(
    [[
    local text = ...
    vim.cmd.redraw()
    local function shown(row, column)
      local cells = {}
      for next = column, vim.o.columns do cells[#cells + 1] = vim.fn.screenstring(row, next) end
      return vim.startswith(table.concat(cells), text)
    end
    local wins = vim.api.nvim_list_wins()
    table.sort(wins, function(a, b)
      local function height(win) return vim.api.nvim_win_get_config(win).zindex or 0 end
      return height(a) > height(b)
    end)
    for _, win in ipairs(wins) do
      local info = vim.fn.getwininfo(win)[1]
      for lnum = info.topline, info.botline do
        local line = vim.fn.getbufline(info.bufnr, lnum)[1] or ""
        local at = line:find(text, 1, true)
        local place = at and vim.fn.screenpos(win, lnum, at)
        if place and place.row > 0 and shown(place.row, place.col) then
          local names = {}
          for _, mark in ipairs(vim.inspect_pos(info.bufnr, lnum - 1, at - 1).extmarks) do
            if mark.opts.hl_group then names[#names + 1] = mark.opts.hl_group end
          end
          return names
        end
      end
    end
    error(("%q is not on the screen"):format(text), 0)
  ]],
    text
  )
end

local function poll(self, ms, what, probe)
  local deadline = vim.uv.hrtime() + ms * 1e6
  while true do
    local answer = probe()
    if answer then
      return answer
    end
    if vim.uv.hrtime() > deadline then
      local shown, text = pcall(self.text, self)
      error(
        ("waited %d ms for %s; the screen:\n%s"):format(ms, what, shown and text:gsub("\n+$", "") or "(not readable)"),
        3
      )
    end
    vim.wait(15)
  end
end

function Child:wait(code, ms, what)
  local chunk = code:find("return", 1, true) and code or ("return " .. code)
  return poll(self, ms or 5000, what or code, function()
    if self:mode().blocking then
      return nil
    end
    local answer = self:lua(chunk)
    return answer
  end)
end

function Child:wait_screen(text, ms)
  return poll(self, ms or 5000, vim.inspect(text), function()
    if self:mode().blocking then
      return nil
    end
    local screen = self:text()
    return screen:find(text, 1, true) and screen
  end)
end

function Child:wait_no_screen(text, ms)
  return poll(self, ms or 5000, "the end of " .. vim.inspect(text), function()
    local screen = self:text()
    return not screen:find(text, 1, true) and screen
  end)
end

function Child:pid()
  return self.job_pid
end

--- Whether the child still answers.
function Child:alive()
  return self.code == nil and pcall(vim.rpcrequest, self.channel, "nvim_get_mode")
end

--- Runs `:qa!` and returns the exit status; an error if the child does not exit in time.
function Child:quit(ms)
  if not self.code then
    pcall(vim.rpcnotify, self.channel, "nvim_command", "qa!")
  end
  local done = vim.wait(ms or 5000, function()
    return self.code ~= nil
  end, 5)
  assert(done, "the child did not end on :qa!")
  return self.code
end

function Child:kill(signal)
  vim.uv.kill(self.job_pid, signal or "sigkill")
  vim.wait(5000, function()
    return self.code ~= nil
  end, 5)
  return self.code
end

function Child:stop()
  if not self.code then
    pcall(vim.rpcnotify, self.channel, "nvim_command", "qa!")
    if not vim.wait(3000, function()
      return self.code ~= nil
    end, 5) then
      self:kill()
    end
  end
end

--- Starts another process in the same sandbox, like a restart of the editor.
function Child:restart(opts)
  self:stop()
  self.opts = vim.tbl_extend("force", self.opts, opts or {})
  self:start()
  return self
end

--- Kills every child, so that pending requests to them fail.
function Child.kill_all()
  for pid in pairs(running) do
    vim.uv.kill(pid, "sigkill")
  end
end

return Child
