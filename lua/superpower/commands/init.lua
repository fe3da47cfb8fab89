--- `:Superpower`: one table of sub-commands, each with its implementation, completion and description.
local args = require("superpower.base.args")
local lazy = require("superpower.base.lazy")
local subcommands = require("superpower.commands.subcommands")

local suggest = lazy("superpower.base.suggest")
local complete = lazy("superpower.commands.complete")
local headless = lazy("superpower.commands.headless")
local program = lazy("superpower.commands.program")
local notify = lazy("superpower.notify")

local M = {}

---@class superpower.SubCommand
---@field desc string
---@field usage? string
---@field impl fun(rest: string, bang: boolean, run_id?: string)
---@field complete? fun(words: string[], lead: string, run_id?: string): string[]
---@field of_run? superpower.OfRun it acts on a run and takes `run=ID` as its first word; the runs to complete
---@field bang? boolean
---@field printed? boolean with the bang, the program prints what it shows
---@field bare? boolean it takes no arguments

-- Not sorted: <Tab> would offer a decision first.
local first = { "run", "resume", "gate" }

---@return string[]
local function known_names()
  local names = vim.tbl_filter(function(name)
    return not vim.tbl_contains(first, name)
  end, vim.tbl_keys(subcommands))
  table.sort(names)
  return vim.list_extend(vim.list_slice(first), names)
end

---@param message string
---@param bang boolean
local function fail(message, bang)
  if bang then
    return headless.refuse(message)
  end
  notify.error(message)
end

--- Runs a sub-command with its raw argument text.
---@param name string
---@param rest string
---@param bang boolean
local function dispatch(name, rest, bang)
  if bang and #vim.api.nvim_list_uis() > 0 then
    return notify.error(("the bang is for headless use; type :Superpower %s %s"):format(name, rest))
  elseif bang then
    notify.force_headless()
  end
  local sub = subcommands[name]
  if not sub then
    local best = suggest.sorted(name, known_names(), true)
    local known = #best > 0 and ('did you mean "%s"?'):format(best[1]) or "known: " .. table.concat(known_names(), ", ")
    return fail(('unknown sub-command "%s": %s'):format(name, known), bang)
  end
  if bang and not sub.bang then
    return fail(('"%s" does not take a bang'):format(name), true)
  end
  local run_id, problem
  if sub.of_run then
    run_id, rest, problem = args.run(rest)
    if problem then
      return fail(problem, bang)
    end
  end
  if sub.bare and rest ~= "" then
    return fail(('%s takes no arguments, got "%s"'):format(name, rest), bang)
  end
  if bang and sub.printed then
    return program.show(name, rest, run_id)
  end
  sub.impl(rest, bang, run_id)
end

---@param opts { args: string, bang: boolean }
function M.execute(opts)
  local name, rest = args.first(opts.args)
  if name == "" then
    if opts.bang then
      local verbs = vim.tbl_filter(function(verb)
        return subcommands[verb].bang
      end, known_names())
      return fail("the bang needs a verb, one of: " .. table.concat(verbs, ", "), #vim.api.nvim_list_uis() == 0)
    end
    name = "dashboard"
  end
  dispatch(name, rest, opts.bang)
end

--- Completes the text before the cursor.
---@param lead string
---@param line string
---@param pos integer
---@return string[]
function M.complete(lead, line, pos)
  local before = line:sub(1, pos)
  local rest = before:match("^.-Superpower!?%s+(.*)$")
  if not rest then
    return {}
  end
  local name, after = rest:match("^(%S+)%s+(.*)$")
  local found ---@type string[]
  if not name then
    found = known_names()
  else
    local sub = subcommands[name]
    local words = sub and args.words(after)
    if not sub or not words then
      return {}
    end
    if lead ~= "" and words[#words] == lead then
      table.remove(words)
    end
    local run_id ---@type string?
    if sub.of_run and words[1] and vim.startswith(words[1], "run=") then
      run_id = table.remove(words, 1):sub(5)
    end
    found = sub.complete and vim.list_slice(sub.complete(words, lead, run_id)) or {}
    if sub.of_run and #words == 0 and not run_id then
      vim.list_extend(found, complete.of_run(sub.of_run, lead))
    end
  end
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, found)
end

return M
