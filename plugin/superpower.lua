-- Registers the command, mappings and autocommands, and requires nothing: the plugin and its library load on first
-- use.
if vim.g.loaded_superpower then
  return
end
vim.g.loaded_superpower = true

if vim.fn.has("nvim-0.10") == 0 then
  vim.notify_once("superpower.nvim needs Neovim 0.10 or later", vim.log.levels.ERROR)
  return
end

local function execute(opts)
  require("superpower.boot").load("commands").execute(opts)
end

vim.api.nvim_create_user_command("Superpower", function(opts)
  if not opts.bang then
    return execute(opts)
  end
  -- Headless, no user reads a trace, and an editor that does not exit would block its script.
  local fine, trace = xpcall(execute, debug.traceback, opts)
  if fine then
    return
  elseif #vim.api.nvim_list_uis() > 0 then
    error(trace, 0)
  end
  if not pcall(function()
    require("superpower.boot").load("commands.headless").internal_error(trace)
  end) then
    io.stderr:write("superpower: " .. (trace:match("[^\n]+") or "?") .. "\n")
    vim.cmd("cquit 1")
  end
end, {
  nargs = "*",
  bang = true,
  desc = "Agent workflows with human gates",
  complete = function(lead, line, pos)
    return require("superpower.boot").peek("commands").complete(lead, line, pos)
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
  local rhs = "<Cmd>Superpower " .. verb .. "<CR>"
  vim.api.nvim_set_keymap("n", "<Plug>(superpower-" .. verb .. ")", rhs, { desc = "Superpower: " .. verb })
end

-- Reports once, after start-up, that a run of the project waits. Modules are loaded only if a run has left its file.
local group = vim.api.nvim_create_augroup("superpower", { clear = true })
local function check_runs()
  if vim.env.SUPERPOWER_RUN_ID then
    return
  end
  local here = vim.bo.buftype == "" and vim.api.nvim_buf_get_name(0) or ""
  local from = here ~= "" and vim.fs.dirname(here) or vim.uv.cwd()
  if from and vim.fs.find(".claude/state/squad.json", { path = from, upward = true, limit = 1 })[1] then
    require("superpower.boot").load("notices.welcome").check()
  end
end
vim.api.nvim_create_autocmd({ "VimEnter", "UIEnter", "DirChanged", "BufReadPost", "BufNewFile" }, {
  group = group,
  desc = "Report once that a run waits in this project",
  callback = function()
    if vim.v.vim_did_enter == 1 then
      vim.schedule(check_runs)
    end
  end,
})

-- A session restores our splits as empty windows with their names.
vim.api.nvim_create_autocmd("SessionLoadPost", {
  group = group,
  desc = "Close our windows that a session restored",
  callback = function()
    for _, buf in ipairs(vim.api.nvim_list_bufs()) do
      local ours = vim.startswith(vim.api.nvim_buf_get_name(buf), "superpower://")
      if ours and table.concat(vim.api.nvim_buf_get_lines(buf, 0, 2, false)) == "" then
        vim.api.nvim_buf_delete(buf, { force = true })
      end
    end
  end,
})

-- Starts the language server for declarations. The path tells whether a YAML file is one; for other files nothing is
-- loaded.
local function declaration(buf)
  local path = vim.api.nvim_buf_get_name(buf)
  if not path:find("%.ya?ml$") or not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  local config = vim.g.superpower
  local more = type(config) == "function" or (type(config) == "table" and next(config.places or {}) ~= nil)
  local ours = path:find("/%.claude/superpowers/.") or path:find("/%.claude/taffy/.")
  if more or ours or path:find("/%.opencode/superpowers/.") then
    require("superpower.boot").load("lsp").attach(buf)
  end
end
vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufFilePost" }, {
  group = group,
  pattern = { "*.yaml", "*.yml" },
  desc = "Help with a declaration while it is written",
  callback = function(event)
    declaration(event.buf)
  end,
})
for _, buf in ipairs(vim.api.nvim_list_bufs()) do
  declaration(buf) -- buffers that were open before the plugin was loaded
end
