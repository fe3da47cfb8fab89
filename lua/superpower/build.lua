--- Builds the native library inside the editor, for plugin managers and for manual use.
---
--- lazy.nvim: `build = function() require("superpower.build").run() end`; the built-in manager: the same in a
--- `PackChanged` autocommand. It needs Rust, and runs the same script as `make build`.
local library = require("superpower.base.library")
local program = require("superpower.base.program")
local engine = require("superpower.engine")

local M = {}

---@class superpower.BuildOpts
---@field wait? boolean wait for the end; always so without a user interface

---@param text string
---@param level integer
local function say(text, level)
  local function now()
    vim.notify("superpower: " .. text, level, { title = "superpower" })
  end
  now()
  if vim.v.vim_did_enter == 0 and level > vim.log.levels.INFO then
    -- While Neovim starts, a plugin manager draws over the message. So an error is shown again afterwards.
    vim.api.nvim_create_autocmd("VimEnter", { once = true, callback = vim.schedule_wrap(now) })
  end
end

---@param result vim.SystemCompleted
---@return boolean built
local function report(result)
  if result.code ~= 0 then
    local output = vim.trim((result.stdout or "") .. (result.stderr or ""))
    local tail = vim.list_slice(vim.split(output, "\n"), -20)
    say("the native library could not be built:\n" .. table.concat(tail, "\n"), vim.log.levels.ERROR)
    return false
  end
  local loaded = package.loaded["superpower.engine"] and engine.info()
  if loaded then
    say("the native library is built; restart Neovim to use it", vim.log.levels.WARN)
  else
    say("the native library is built", vim.log.levels.INFO)
  end
  return true
end

--- Builds and installs the library.
---@param opts? superpower.BuildOpts
---@param callback? fun(built: boolean)
---@return boolean? built if it waits
function M.run(opts, callback)
  local root = library.root()
  if not program.find("cargo") then
    say('"cargo" is not on PATH: install Rust 1.89 or later, then run "make build" in ' .. root, vim.log.levels.ERROR)
    if callback then
      callback(false)
    end
    return false
  end
  local function done(result)
    local built = report(result)
    if callback then
      callback(built)
    end
    return built
  end
  say("building the native library; this takes a minute or two", vim.log.levels.INFO)
  local cmd = { "/bin/sh", root .. "/scripts/build.sh" }
  local env = { PATH = table.concat(program.places(), ":") }
  if (opts and opts.wait) or #vim.api.nvim_list_uis() == 0 then
    return done(vim.system(cmd, { cwd = root, env = env, text = true }):wait())
  end
  vim.system(cmd, { cwd = root, env = env, text = true }, vim.schedule_wrap(done))
end

return M
