--- What callbacks of the user's own may do while a bang verb waits, though nobody is there: leave the editor, which would
--- then end well whatever the run is at, and wait for a key, which nobody presses.
local notify = require("superpower.notify")

local M = {}

local EVERY = 250 -- ms between two keys
local BLOCKED = 1000 -- ms without a sign of life from the verb's own waiting

local prepare, timer ---@type uv.uv_prepare_t?, uv.uv_timer_t?
local fed = 0 -- keys that were pressed since the last sign of life
local alive = 0 -- when that was

--- Sees to both from here on. `leave` gives the status with which the editor ends that somebody has told to quit; it may
--- call nothing of Neovim's. No autocommand tells of it: a callback of one keeps the others from running, so that of
--- those who are told only the loop is left, which Neovim turns once more.
---@param leave fun(): integer
function M.watch(leave)
  prepare, timer = vim.uv.new_prepare(), vim.uv.new_timer()
  if prepare then
    prepare:start(function()
      local told = vim.v.exiting
      if told ~= vim.NIL then
        M.done()
        local fine, code = pcall(leave)
        os.exit(told ~= 0 and told or (fine and code or 1))
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

--- The verb's own waiting has its turn: no callback is at work. Keys that nobody took are taken away again.
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
    notify.stderr("a callback waited for a key, and nobody is there to press one: it was given <Esc>")
  end
  fed = 0
end

--- Ends it, before the verb ends the editor by itself.
function M.done()
  for _, handle in ipairs({ prepare, timer }) do
    handle:stop()
  end
end

return M
