--- The user's configuration: read from `vim.g.superpower` when first needed, checked, and completed with defaults. A
--- problem is reported once, with the option's full path, and the default is used instead.
local options = require("superpower.base.options")
local suggest = require("superpower.base.suggest")

local M = {}

---@class superpower.Config every option, with its default; see options.lua
---@field harness string
---@field harnesses table<string, { cmd?: string[], args?: string[] }>
---@field trust "ask"|"always"
---@field conditions table<string, fun(ctx: superpower.FactContext): boolean, string?>
---@field prompt false|fun(prompt: string, ctx: superpower.PromptContext): string
---@field timeout string
---@field idle string
---@field permission_timeout string
---@field driver "process"|"editor"
---@field on_exit "continue"|"stop"
---@field places string[]
---@field keep_runs integer
---@field max_output integer
---@field max_log integer
---@field inputs "form"|"ui"
---@field progress { open: boolean, messages: boolean, position: "right"|"bottom"|"split", width: integer, height: integer }
---@field gate { open: boolean, delay: integer }
---@field notify "all"|"attention"|"none"
---@field attention string[]
---@field attention_command string[]
---@field resume_notice boolean
---@field hints boolean
---@field icons "unicode"|"nerd"|"ascii"
---@field border string

---@type { raw: any, config: superpower.Config, problems: string[] }?
local cached

---@param path string
---@param message string
---@return string
local function problem(path, message)
  return ("vim.g.superpower%s: %s"):format(path == "" and "" or "." .. path, message)
end

---@param value any
---@return string
local function shown(value)
  local text = vim.inspect(value, { newline = " ", indent = "" })
  return #text > 60 and text:sub(1, 57) .. "…" or text
end

---@param value any
---@param inside string?
---@return string? the expected type, if it is wrong
local function list_problem(value, inside)
  if type(value) ~= "table" or not vim.islist(value) then
    return "a list of strings" .. (inside or "")
  end
  for _, item in ipairs(value) do
    if type(item) ~= "string" then
      return "a list of strings" .. (inside or "")
    end
  end
end

---@param option superpower.Option
---@param value any
---@param problems string[]
---@return boolean good
local function check(option, value, problems)
  local kind = option.type
  local wanted ---@type string?
  if kind == "string" or kind == "boolean" or (kind == "function" and value ~= option.default) then
    wanted = type(value) ~= kind and "a " .. kind or nil
  elseif kind == "integer" then
    if type(value) ~= "number" or value % 1 ~= 0 or value < (option.min or -math.huge) then
      wanted = "an integer" .. (option.min and " of " .. option.min .. " or more" or "")
    end
  elseif kind == "enum" then
    if not vim.tbl_contains(option.enum, value) then
      wanted = '"' .. table.concat(option.enum, '" or "') .. '"'
    end
  elseif kind == "duration" then
    if type(value) ~= "string" or not value:match("^[1-9]%d*[smh]$") then
      wanted = 'a number with s, m or h, such as "30m"'
    end
  elseif kind == "list" then
    wanted = list_problem(value)
    for _, item in ipairs(not wanted and option.items and value or {}) do
      if not vim.list_contains(option.items, item) then
        local hint = suggest.hint(item, option.items)
        table.insert(problems, problem(option.path, ("unknown value %s%s"):format(shown(item), hint)))
        return false
      end
    end
  elseif type(value) ~= "table" or (vim.islist(value) and #value > 0) then
    wanted = "a table"
  end
  if wanted then
    table.insert(problems, problem(option.path, ("expected %s, got %s"):format(wanted, shown(value))))
    return false
  end
  local good = true
  if kind == "functions" then
    for name, fn in pairs(value) do
      if type(fn) ~= "function" then
        table.insert(problems, problem(("%s[%q]"):format(option.path, name), "expected a function, got " .. shown(fn)))
        good = false
      end
    end
  elseif kind == "map" then
    for name, entry in pairs(value) do
      local at = ("%s.%s"):format(option.path, name)
      if type(entry) ~= "table" then
        table.insert(problems, problem(at, "expected a table, got " .. shown(entry)))
        good = false
      else
        for key, item in pairs(entry) do
          local keys = vim.tbl_keys(option.item)
          if not option.item[key] then
            local hint = suggest.hint(tostring(key), keys)
            table.insert(problems, problem(at .. "." .. tostring(key), "unknown option" .. hint))
            good = false
          elseif list_problem(item) then
            table.insert(problems, problem(at .. "." .. key, "expected a list of strings, got " .. shown(item)))
            good = false
          end
        end
      end
    end
  end
  return good
end

--- Takes over the values of options that were replaced by others.
---@param given table
---@param config table
---@param problems string[]
local function take_over(given, config, problems)
  for _, option in ipairs(options) do
    local replaced, value = option.replaced, given[option.path]
    if replaced and value ~= nil and check(option, value, problems) then
      local words ---@type string
      if given[replaced.by] == nil then
        config[replaced.by] = vim.deepcopy(replaced.values[value])
        words = ("write %s = %s"):format(replaced.by, shown(config[replaced.by]))
      else
        words = "that is set too, so leave this out"
      end
      table.insert(problems, problem(option.path, ('replaced by "%s": %s'):format(replaced.by, words)))
    end
  end
end

---@param given table
---@return superpower.Config, string[]
local function fill(given)
  local config, problems, known, groups = {}, {}, {}, {}
  for _, option in ipairs(options) do
    local group, name = option.path:match("^([^.]+)%.(.+)$")
    local source, target = given, config
    if group then
      groups[group], known[group] = true, known[group] or {}
      table.insert(known[group], name)
      config[group] = config[group] or {}
      source, target = type(given[group]) == "table" and given[group] or {}, config[group]
    else
      name = option.path
      known[""] = known[""] or {}
      table.insert(known[""], name)
    end
    local value = source[name]
    if value ~= nil and not option.replaced and check(option, value, problems) then
      target[name] = value
    elseif not option.replaced then
      target[name] = vim.deepcopy(option.default)
    end
  end
  take_over(given, config, problems)
  vim.list_extend(known[""], vim.tbl_keys(groups))
  for key, value in pairs(given) do
    if not vim.tbl_contains(known[""], key) then
      local hint = suggest.hint(tostring(key), known[""])
      table.insert(problems, problem(tostring(key), "unknown option" .. hint))
    elseif groups[key] and type(value) ~= "table" then
      table.insert(problems, problem(key, "expected a table, got " .. shown(value)))
    elseif groups[key] then
      for inner in pairs(value) do
        if not vim.tbl_contains(known[key], inner) then
          local hint = suggest.hint(tostring(inner), known[key])
          table.insert(problems, problem(key .. "." .. tostring(inner), "unknown option" .. hint))
        end
      end
    end
  end
  table.sort(problems)
  return config, problems
end

---@return { raw: any, config: superpower.Config, problems: string[] }
local function read()
  local raw = vim.g.superpower
  if cached and vim.deep_equal(raw, cached.raw) then
    return cached
  end
  local given, problems = raw, {}
  if type(raw) == "function" then
    local ok, value = pcall(raw)
    given = value
    if not ok then
      given, problems = {}, { problem("", "the function failed: " .. tostring(value)) }
    end
  end
  if given == nil or given == vim.NIL then
    given = {}
  elseif type(given) ~= "table" then
    given, problems = {}, { problem("", "expected a table or a function that returns one, got " .. shown(given)) }
  end
  local config, more = fill(given)
  cached = { raw = raw, config = config, problems = vim.list_extend(problems, more) }
  return cached
end

---@return superpower.Config
function M.get()
  return read().config
end

--- Returns the problems of the configuration, one per line.
---@return string[]
function M.problems()
  return read().problems
end

--- Leaves out empty tables: JSON made from Lua cannot tell an empty list from an empty map.
---@param value any
---@return any
local function full(value)
  if type(value) ~= "table" then
    return value
  end
  local out = vim.tbl_map(full, value)
  for key, item in pairs(out) do
    if type(item) == "table" and vim.tbl_isempty(item) then
      out[key] = nil
    end
  end
  return next(out) ~= nil and out or nil
end

--- Returns the part for the engine.
---@param config superpower.Config
---@return table
function M.for_engine(config)
  local out = {} ---@type table<string, any>
  local names = vim.tbl_keys(config.conditions)
  table.sort(names)
  out.conditions = full(names)
  out.prompt = config.prompt and true or false
  for _, option in ipairs(options) do
    if option.engine then
      out[option.path] = full(config[option.path])
    end
  end
  -- The engine keeps its own state elsewhere, and takes over what is here.
  local old = vim.fs.joinpath(vim.fn.stdpath("state") --[[@as string]], "superpower")
  -- A relative path would point into the working directory, which may be a clone.
  out.old_state_dir = vim.startswith(old, "/") and old or nil
  return out
end

return M
