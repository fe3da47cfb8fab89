-- The demo's whole configuration. `scripts/demo.sh` starts Neovim with it, in a copy of `examples/shop`.
--
-- What a user would write is the table at the end; what stands before it keeps the demo away from the user's own
-- configuration.

local demo = vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))
local plugin = vim.fs.dirname(vim.fs.dirname(demo))

-- Neovim's own, which is in two places: the parsers are beside its libraries, and opening Markdown needs one.
local own = vim.tbl_filter(function(path)
  return path == vim.env.VIMRUNTIME or path:find("/lib%d*/nvim$") ~= nil or path:find("/lib/[^/]+/nvim$") ~= nil
end, vim.opt.runtimepath:get())
vim.opt.runtimepath = vim.list_extend({ plugin }, vim.list_extend(own, { vim.fs.joinpath(plugin, "after") }))
vim.opt.packpath = { vim.env.VIMRUNTIME }
vim.o.swapfile = false
vim.o.shadafile = "NONE"
vim.o.number = true
vim.o.laststatus = 3

local harness = vim.env.HARNESS
if harness == nil or harness == "" then
  harness = "command"
end

vim.g.superpower = {
  harness = harness,
  -- The demo's own files are trusted. Leave this out, and the first run of each declaration asks.
  trust = harness == "command" and "always" or "ask",
  harnesses = {
    command = { cmd = { vim.fs.joinpath(demo, "agent"), "{agent}{skill}" } },
  },
}

-- A look at the run from every window.
vim.o.statusline = " %f %m%=%{v:lua.require'superpower'.statusline()} "

-- What `scripts/demo.sh` wants to be played, once: after `:restart` the run is there already.
if vim.env.DEMO_RUN and not vim.uv.fs_stat(".claude/state/squad.json") then
  local run = vim.env.DEMO_RUN
  vim.api.nvim_create_autocmd("VimEnter", {
    once = true,
    callback = vim.schedule_wrap(function()
      vim.cmd("Superpower run " .. run)
    end),
  })
end
