-- Neovim's own refusals are shown as one line. Errors in the user's autocommands do not stop the plugin, and are not shown
-- as the plugin's errors.
local T = require("harness")
local S = require("support.scripted")
local Shop = require("support.shop")
local describe, it, eq, ok, contains, lacks = T.describe, T.it, T.eq, T.ok, T.contains, T.lacks

local events = {
  "BufEnter",
  "BufLeave",
  "BufWinEnter",
  "BufNew",
  "BufReadPre",
  "BufReadPost",
  "BufWinLeave",
  "FileType",
  "WinNew",
  "WinEnter",
  "WinLeave",
  "WinClosed",
  "TabNew",
  "TabEnter",
  "TabLeave",
}

--- Types the command, because over RPC an error message would be raised in the spec.
local function type_command(nvim, command)
  nvim:feed(":" .. command .. "<CR>")
end

---@param nvim table
local function raise(nvim)
  nvim:lua(
    [[for _, event in ipairs(...) do
        vim.api.nvim_create_autocmd(event, { callback = function() error("theirs: " .. event) end })
      end]],
    events
  )
end

--- Returns the messages, none of which may come from the plugin.
local function said(nvim)
  local messages = nvim:messages()
  lacks(messages, "stack traceback")
  lacks(messages, "lua/superpower/")
  return messages
end

describe("the user's autocommands that raise", function()
  it("do not prevent our windows from opening and closing", function()
    local nvim = S.child()
    raise(nvim)
    S.answer(nvim, "review", S.review)
    S.answer(nvim, "decide", { run_id = "0190-abc" })
    S.answer(nvim, "runs", {})
    S.answer(nvim, "health", {})
    S.send(nvim, { type = "snapshot", run = S.at_gate() })
    type_command(nvim, "Superpower")
    nvim:wait("vim.bo.filetype == 'superpower-dashboard'")
    nvim:feed("q")
    nvim:wait("vim.bo.filetype ~= 'superpower-dashboard'")
    type_command(nvim, "Superpower progress")
    nvim:wait("require('superpower.views.progress').is_open()")
    type_command(nvim, "Superpower progress")
    nvim:wait("not require('superpower.views.progress').is_open()")
    type_command(nvim, "Superpower gate")
    nvim:wait("vim.bo.filetype == 'superpower-gate'")
    nvim:wait("require('superpower.gate').is_armed()")
    nvim:feed("a")
    nvim:wait("not require('superpower.gate').is_open()")
    eq(1, #S.calls(nvim, "decide"))
    contains(said(nvim), "theirs: BufEnter")
  end)

  for _, event in ipairs(events) do
    it("do not prevent a file from being opened: " .. event, function()
      local nvim = Shop.child()
      nvim:lua(
        "local event = ...; vim.api.nvim_create_autocmd(event, { callback = function() error('theirs: ' .. event) end })",
        event
      )
      type_command(nvim, "Superpower edit bugfix")
      nvim:wait("vim.api.nvim_buf_get_name(0):match('bugfix.yaml$') ~= nil and vim.fn.line('$') > 3")
      type_command(nvim, "Superpower new my-own blank")
      nvim:wait("vim.api.nvim_buf_get_name(0):match('my%-own.yaml$') ~= nil and vim.fn.getline(1) == 'name: my-own'")
      type_command(nvim, "Superpower log")
      nvim:wait("vim.bo.filetype == 'superpower-log'")
    end)
  end
end)

describe("a file that Neovim does not open in this window", function()
  it("is opened in a split if 'hidden' is off and the buffer has changes", function()
    for verb, name in pairs({ ["edit bugfix"] = "bugfix", ["new my-own blank"] = "my-own" }) do
      local nvim = Shop.child()
      nvim:cmd("edit README.md | set nohidden")
      nvim:feed("ox<Esc>")
      nvim:wait("vim.bo.modified")
      type_command(nvim, "Superpower " .. verb)
      nvim:wait(("vim.api.nvim_buf_get_name(0):match('%s.yaml$') ~= nil"):format((name:gsub("%-", "%%-"))))
      eq(2, nvim:lua("return #vim.api.nvim_tabpage_list_wins(0)"))
      lacks(nvim:messages(), "stack traceback")
      eq("x", nvim:lua("return vim.fn.getbufline('README.md', 2)[1]"))
    end
  end)

  it("leaves the answer to a swap file's question to Neovim", function()
    local nvim = Shop.child({ args = { "--cmd", "set directory=./.swap//" } })
    vim.fn.mkdir(nvim.project .. "/.swap")
    nvim:lua("vim.o.swapfile = true; vim.o.updatecount = 1")
    local other = T.child({
      cwd = nvim.project,
      init = "vim.o.swapfile = true; vim.o.updatecount = 1; vim.o.directory = './.swap//'",
    })
    other:cmd("edit .claude/superpowers/bugfix.yaml")
    other:feed("ox<Esc>")
    other:wait("vim.bo.modified")
    other:cmd("preserve")
    nvim:lua("vim.o.directory = './.swap//'")
    nvim:cmd("edit README.md")
    nvim:lua([[vim.api.nvim_create_autocmd("SwapExists", { callback = function() vim.v.swapchoice = "q" end })]])
    type_command(nvim, "Superpower edit bugfix")
    vim.uv.sleep(100)
    lacks(nvim:messages(), "stack traceback")
    contains(nvim:lua("return vim.api.nvim_buf_get_name(0)"), "README.md")
    ok(nvim:alive())
  end)
end)
