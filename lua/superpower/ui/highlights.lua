--- The highlight groups: each is a link by default, so that every colour scheme has them.
local M = {}

---@type { name: string, link: string, help: string }[]
M.groups = {
  { name = "SuperpowerNormal", link = "NormalFloat", help = "text of our windows" },
  { name = "SuperpowerBorder", link = "FloatBorder", help = "their borders" },
  { name = "SuperpowerTitle", link = "FloatTitle", help = "their titles" },
  { name = "SuperpowerFooter", link = "FloatFooter", help = "numbers in their footer" },
  { name = "SuperpowerKey", link = "Special", help = "a key that can be pressed" },
  { name = "SuperpowerDim", link = "Comment", help = "what is inactive" },
  { name = "SuperpowerNumber", link = "LineNr", help = "a stage's number" },
  { name = "SuperpowerLabel", link = "SuperpowerNormal", help = "a stage's label" },
  { name = "SuperpowerNote", link = "Comment", help = "a stage's state, in words" },
  { name = "SuperpowerTime", link = "Comment", help = "a stage's time" },
  { name = "SuperpowerWaiting", link = "NonText", help = "icon: not yet reached" },
  { name = "SuperpowerRunning", link = "DiagnosticInfo", help = "icon: running" },
  { name = "SuperpowerPassed", link = "DiagnosticOk", help = "icon: passed, approved" },
  { name = "SuperpowerSkipped", link = "NonText", help = "icon: skipped" },
  { name = "SuperpowerFailed", link = "DiagnosticError", help = "icon: failed" },
  {
    name = "SuperpowerGate",
    link = "DiagnosticWarn",
    help = "icon: waits at a gate, for a limit or for an answer",
  },
  { name = "SuperpowerTool", link = "Function", help = "the tool call that is open" },
  { name = "SuperpowerText", link = "Comment", help = "the agent's last line" },
  { name = "SuperpowerAdded", link = "Added", help = "a new file, added lines" },
  { name = "SuperpowerChanged", link = "Changed", help = "a changed file" },
  { name = "SuperpowerRemoved", link = "Removed", help = "a deleted file, removed lines" },
  { name = "SuperpowerPath", link = "Directory", help = "a file's path" },
  { name = "SuperpowerHeading", link = "Title", help = "a heading inside a window" },
}

local watching = false

local function apply()
  for _, group in ipairs(M.groups) do
    vim.api.nvim_set_hl(0, group.name, { link = group.link, default = true })
  end
end

--- Defines the groups, and defines them again after a colour scheme has cleared them.
function M.setup()
  apply()
  if not watching then
    watching = true
    vim.api.nvim_create_autocmd("ColorScheme", {
      group = vim.api.nvim_create_augroup("superpower-highlights", { clear = true }),
      callback = apply,
    })
  end
end

return M
