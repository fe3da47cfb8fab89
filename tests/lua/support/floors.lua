-- The floors of `lua/superpower`: which module may require which. Reads the requires of each file as text.
--
--   Floors.problems({ ["superpower.runs"] = "local x = require(…)…", … })      the problems, one on each line

local Floors = {}

--- From the lowest floor up. A name is a module or a directory. It may require modules of its own floor or below.
Floors.order = {
  { "base", "config", "notify" }, -- these require no other module of the plugin
  { "editor" }, -- the user's editor: their autocommands, whether they type, their buffers
  { "engine", "requests", "events", "session" }, -- the library: configuration, calls, requests, events
  { "runs" }, -- what is known of runs
  { "ui" }, -- windows that do not depend on features
  { "ask", "declaration", "gate", "lsp", "notices", "verbs", "views" }, -- the features, with windows of their own
  { "commands" }, -- `:Superpower`
  { "boot" }, -- connects features to events
  { "init", "build", "health" }, -- the entry points
}

--- Modules that refer to many others and use few of them in one session, so they load them lazily.
Floors.lazy = { "boot", "init", "commands", "commands.subcommands", "commands.views" }

---@param module string without `superpower.`
---@return integer? floor from 1
function Floors.of(module)
  local first = module:match("^[^.]+")
  for floor, names in ipairs(Floors.order) do
    if vim.list_contains(names, module) or vim.list_contains(names, first) then
      return floor
    end
  end
end

---@class floors.Require
---@field module string without `superpower.`
---@field line integer
---@field how "top"|"lazy"|"inside"

--- The plugin's modules that a file requires.
---@param module string its own name
---@param source string
---@return floors.Require[]
function Floors.requires(module, source)
  local found, top, number = {}, true, 0
  for line in vim.gsplit(source, "\n", { plain = true }) do
    number = number + 1
    local code = line:gsub("%-%-.*$", "")
    local heading = code:match('^local [%w_]+ = require%("superpower[%w_.]*"%)%s*$')
    local lazy = code:match('^local [%w_]+ = lazy%("superpower[%w_.]*"%)%s*$')
    if vim.trim(code) ~= "" and not heading and not lazy then
      top = false
    end
    for how, name in code:gmatch("%f[%w_]([%w_]+)[( ]*[\"']([%w_.]+)[\"']") do
      local ours = name == "superpower" and "init" or name:match("^superpower%.([%w_.]+)$")
      if how == "lazy" or (how == "load" and module == "init") then
        table.insert(found, { module = ours or name, line = number, how = "lazy" })
      elseif how == "require" and ours and ours ~= module then
        table.insert(found, { module = ours, line = number, how = heading and top and "top" or "inside" })
      end
    end
  end
  return found
end

--- The cycles among files, each as `a -> b -> a`.
---@param edges table<string, string[]>
---@return string[]
local function circles(edges)
  local found, done, path = {}, {}, {}
  local function walk(module)
    for index, before in ipairs(path) do
      if before == module then
        local circle = vim.list_slice(path, index)
        table.insert(circle, module)
        table.insert(found, "a circle: " .. table.concat(circle, " -> "))
        return
      end
    end
    if done[module] then
      return
    end
    table.insert(path, module)
    for _, below in ipairs(edges[module] or {}) do
      walk(below)
    end
    table.remove(path)
    done[module] = true
  end
  local modules = vim.tbl_keys(edges)
  table.sort(modules)
  vim.iter(modules):each(walk)
  return found
end

---@param sources table<string, string> by module, without `superpower.`
---@return string[]
function Floors.problems(sources)
  local problems, edges = {}, {}
  for module, source in pairs(sources) do
    local own = Floors.of(module)
    if not own then
      table.insert(problems, module .. " stands on no floor")
    end
    edges[module] = {}
    for _, found in ipairs(Floors.requires(module, source)) do
      local at = ("%s:%d"):format(module, found.line)
      local floor = Floors.of(found.module)
      if not sources[found.module] then
        table.insert(problems, ("%s requires %s, which is not there"):format(at, found.module))
      elseif found.how == "inside" then
        table.insert(problems, ("%s requires %s, and not at the top"):format(at, found.module))
      elseif found.how == "lazy" and not vim.list_contains(Floors.lazy, module) then
        table.insert(problems, ("%s loads %s lazily"):format(at, found.module))
      end
      if own and floor and floor > own then
        table.insert(problems, ("%s requires %s, which stands above it"):format(at, found.module))
      end
      table.insert(edges[module], found.module)
    end
  end
  vim.list_extend(problems, circles(edges))
  table.sort(problems)
  return problems
end

return Floors
