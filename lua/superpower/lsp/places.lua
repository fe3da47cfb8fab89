--- Sees that files of a project change which an open declaration names or asks about: agents, skills, stories, the branch.
--- A few directories are watched, no timer runs; what changed is read by the engine, in a thread.
local engine = require("superpower.engine")

local M = {}

--- No more than this many directories a project.
local MOST = 64
--- How long to wait for more of the same, in milliseconds.
local CALM = 100

--- Directories of a project, and of the home directory, whose own entries matter.
local HERE = {
  ".agents",
  ".agents/agents",
  ".agents/skills",
  ".claude",
  ".claude/agents",
  ".claude/skills",
  ".claude/superpowers",
  ".claude/taffy",
  ".github",
  ".github/agents",
  ".opencode",
  ".opencode/agent",
  ".opencode/agents",
  ".opencode/skill",
  ".opencode/skills",
  ".opencode/superpowers",
  ".git",
  "docs/stories",
  "docs/design/identity",
}
local HOME = {
  ".agents/skills",
  ".claude/agents",
  ".claude/skills",
  ".config/opencode/agent",
  ".config/opencode/agents",
}

local watched = {} ---@type table<string, table<string, uv.uv_fs_event_t>> by root, by directory
local due = {} ---@type table<string, true>

---@param root string
---@return string[]
local function directories(root)
  local found = {}
  local function add(dir)
    if #found < MOST and vim.fn.isdirectory(dir) == 1 then
      found[#found + 1] = dir
      return true
    end
  end
  local function add_with_folders(dir)
    if add(dir) and not dir:find("%.git$") and not dir:find("/%.[a-z]+$") then
      for name, kind in vim.fs.dir(dir) do
        if kind == "directory" then
          add(vim.fs.joinpath(dir, name))
        end
      end
    end
  end
  for _, dir in ipairs(HERE) do
    add_with_folders(vim.fs.joinpath(root, dir))
  end
  for _, dir in ipairs(HOME) do
    add_with_folders(vim.fs.joinpath(vim.uv.os_homedir() or "~", dir))
  end
  return found
end

---@param root string
local function changed(root)
  if due[root] then
    return
  end
  due[root] = true
  vim.defer_fn(function()
    due[root] = nil
    if watched[root] and vim.v.exiting == vim.NIL then
      M.watch(root) -- a directory may have come, or gone
      engine.call("project-renew", { root = root })
    end
  end, CALM)
end

--- Watches a project, or looks anew which directories there are.
---@param root string
function M.watch(root)
  local before = watched[root] or {}
  local now = {}
  for _, dir in ipairs(directories(root)) do
    local handle = before[dir]
    before[dir] = nil
    if not handle then
      handle = vim.uv.new_fs_event()
      local started = handle
        and handle:start(dir, {}, function()
          vim.schedule(function()
            changed(root)
          end)
        end)
      if handle and not started then
        handle:close()
        handle = nil
      elseif handle then
        handle:unref() ---@diagnostic disable-line: undefined-field
      end
    end
    now[dir] = handle
  end
  for _, handle in pairs(before) do
    handle:close()
  end
  watched[root] = now
end

return M
