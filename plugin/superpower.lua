-- Registers what a user can type or map, and requires nothing: the plugin and its library load on first use.
if vim.g.loaded_superpower then
  return
end
vim.g.loaded_superpower = true

if vim.fn.has("nvim-0.10") == 0 then
  vim.notify_once("superpower.nvim needs Neovim 0.10 or later", vim.log.levels.ERROR)
  return
end

vim.api.nvim_create_user_command("Superpower", function(opts)
  require("superpower.command").execute(opts)
end, {
  nargs = "*",
  bang = true,
  desc = "Agent workflows with human gates",
  complete = function(lead, line, pos)
    return require("superpower.command").complete(lead, line, pos)
  end,
})

for _, verb in ipairs({
  "dashboard",
  "run",
  "resume",
  "pause",
  "cancel",
  "retry",
  "skip",
  "gate",
  "approve",
  "changes",
  "reject",
  "progress",
  "plan",
  "why",
  "check",
  "log",
  "runs",
}) do
  vim.keymap.set("n", "<Plug>(superpower-" .. verb .. ")", function()
    require("superpower.command").verb(verb)
  end, { desc = "Superpower: " .. verb })
end

-- A project with something waiting says so once, after start-up. Only where a run has left its file is anything loaded.
local group = vim.api.nvim_create_augroup("superpower", { clear = true })
local function look()
  if vim.env.SUPERPOWER_RUN_ID then
    return
  end
  local here = vim.bo.buftype == "" and vim.api.nvim_buf_get_name(0) or ""
  local from = here ~= "" and vim.fs.dirname(here) or vim.uv.cwd()
  if from and vim.fs.find(".claude/state/squad.json", { path = from, upward = true, limit = 1 })[1] then
    require("superpower.welcome").look()
  end
end
vim.api.nvim_create_autocmd({ "VimEnter", "DirChanged", "BufReadPost", "BufNewFile" }, {
  group = group,
  desc = "Say once that a run waits in this project",
  callback = function()
    if vim.v.vim_did_enter == 1 then
      vim.schedule(look)
    end
  end,
})
