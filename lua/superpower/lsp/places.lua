--- Watches the files that an open declaration names or asks about: agents, skills, stories, the branch. A few
--- directories are watched, without a timer. The engine reads the changes, in a thread.
local engine = require("superpower.engine")

local M = {}

--- The maximum number of watched directories per project.
local MAX_DIRECTORIES = 64
--- The time to wait for more changes, in milliseconds.
local DEBOUNCE = 100

--- Directories of a project, and of the home directory, whose direct entries matter.
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
    if #found < MAX_DIRECTORIES and vim.fn.isdirectory(dir) == 1 then
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
      M.watch(root) -- a directory may have been created or deleted
      engine.call("project-renew", { root = root })
    end
  end, DEBOUNCE)
end

--- Watches a project, or updates the list of its watched directories.
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
