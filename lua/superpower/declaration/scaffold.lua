--- Creates a new declaration: blank, or from one of the plugin's own examples.
local library = require("superpower.base.library")
local path_check = require("superpower.base.path_check")
local suggest = require("superpower.base.suggest")
local notify = require("superpower.notify")
local session = require("superpower.session")
local open_file = require("superpower.ui.open_file")

local M = {}

local names = { "new-ui-feature", "api-endpoint", "bugfix", "design-refresh" }

local blank = [[
name: new
description: What this superpower is for, in one line
version: "1.0.0"
inputs:
  - name: goal
    required: true
    description: What to achieve
stages:
  - agent: planner
    description: "Plan: {{goal}}"
  - gate: human-approval
    description: Approve the plan
  - agent: builder
    description: "Build what the plan says"
]]

---@return string[]
function M.templates()
  return vim.list_extend({ "blank" }, names)
end

---@param template string
---@return string?
local function example(template)
  local path = ("examples/shop/.claude/superpowers/%s.yaml"):format(template)
  local file = vim.api.nvim_get_runtime_file(path, false)[1]
  if not file then
    file = vim.fs.joinpath(library.root(), path)
  end
  local handle = io.open(file, "r")
  if handle then
    local content = handle:read("*a")
    handle:close()
    return content
  end
end

--- The folders of superpowers, in the order of search.
local folders = { ".claude/superpowers", ".claude/taffy", ".opencode/superpowers" }

--- Returns the path of a new declaration: in the first folder that exists.
---@param root string
---@param name string
---@return string
local function place(root, name)
  local there = vim.iter(folders):find(function(folder)
    return vim.uv.fs_stat(vim.fs.joinpath(root, folder)) ~= nil
  end)
  return vim.fs.joinpath(root, there or folders[1], name .. ".yaml")
end

---@param path string
---@param name string
---@param template string
local function write(path, name, template)
  local content
  if template == "blank" then
    content = blank
  else
    content = example(template)
    if not content then
      return notify.error(('the template "%s" is not installed'):format(template))
    end
  end
  -- The engine writes the name as YAML: "no" and "1e3" are names too.
  local named, err = session.call("scaffold", { template = content, name = name })
  if not named then
    return notify.engine_error(assert(err))
  end
  local made, why = pcall(vim.fn.mkdir, vim.fs.dirname(path), "p")
  if not made then
    return notify.error(('cannot create "%s": %s'):format(vim.fs.dirname(path), why))
  end
  if not open_file.file(path) then
    return
  end
  vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(vim.trim(named), "\n"))
  notify.info("new declaration, not saved yet: :w saves it")
end

---@param root string
---@param name string
---@param template? string
function M.new(root, name, template)
  if not name:match("^[a-z0-9]+[a-z0-9-]*$") or name:match("%-%-") or name:match("%-$") then
    return notify.error(('invalid name "%s"; use kebab-case, such as "my-feature"'):format(name))
  elseif template and not vim.tbl_contains(M.templates(), template) then
    local hint = suggest.hint(template, M.templates())
    return notify.error(
      ('unknown template "%s"%s; expected one of: %s'):format(template, hint, table.concat(M.templates(), ", "))
    )
  end
  local path = place(root, name)
  local problem = path_check.outside(root, path)
  if problem then
    return notify.error("cannot create the declaration: " .. problem)
  elseif vim.uv.fs_stat(path) then
    return notify.error(("%s already exists; :Superpower edit %s opens it"):format(path, name))
  elseif template then
    return write(path, name, template)
  end
  vim.ui.select(M.templates(), { prompt = "Start from", kind = "superpower" }, function(choice)
    if choice then
      write(path, name, choice)
    end
  end)
end

return M
