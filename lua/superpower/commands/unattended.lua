--- Handles what a user's callback may do while a bang verb waits: quit the editor, which would then exit with status 0
--- whatever the run's state is, or wait for a key, which no user can press.
local notify = require("superpower.notify")

local M = {}

local EVERY = 250 -- ms between two keys
local BLOCKED = 1000 -- ms since the verb's own wait last ran

local prepare, timer ---@type uv.uv_prepare_t?, uv.uv_timer_t?
local alive = 0 -- when the verb's own wait last ran
local fed = 0 -- keys that were sent since then

--- Starts handling both. `leave` returns the exit status of an editor that a callback has quit; it must not call Neovim's
--- API. No autocommand is used: a callback of one can prevent the others, but Neovim always runs the loop once more.
---@param leave fun(): integer
function M.watch(leave)
  prepare, timer = vim.uv.new_prepare(), vim.uv.new_timer()
  if prepare then
    prepare:start(function()
      local status = vim.v.exiting
      if status ~= vim.NIL then
        M.done()
        local fine, code = pcall(leave)
        os.exit(status ~= 0 and status or (fine and code or 1))
      end
    end)
  end
  alive = vim.uv.now()
  if timer then
    timer:start(EVERY, EVERY, function()
      if vim.uv.now() - alive > BLOCKED then
        fed = fed + vim.api.nvim_input("<Esc>") / #"<Esc>"
      end
    end)
  end
end

--- Called by the verb's own wait, when no callback is active. Removes sent keys that no callback took.
function M.turn()
  alive = vim.uv.now()
  if fed == 0 then
    return
  end
  local left = 0
  while vim.fn.getchar(0) ~= 0 do
    left = left + 1
  end
  if left < fed then
    notify.stderr("a callback waited for a key without a user interface: it was sent <Esc>")
  end
  fed = 0
end

--- Stops handling, before the verb itself ends the editor.
function M.done()
  for _, handle in ipairs({ prepare, timer }) do
    handle:stop()
  end
end

return M
