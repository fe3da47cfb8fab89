--- The sub-commands that show something and change no run.
local args = require("superpower.base.args")
local lazy = require("superpower.base.lazy")

local suggest = lazy("superpower.base.suggest")
local complete = lazy("superpower.commands.complete")
local checker = lazy("superpower.declaration.check")
local pick = lazy("superpower.declaration.pick")
local scaffold = lazy("superpower.declaration.scaffold")
local notify = lazy("superpower.notify")
local store = lazy("superpower.runs")
local current = lazy("superpower.runs.current")
local skipped_links = lazy("superpower.runs.skipped_links")
local session = lazy("superpower.session")
local open_file = lazy("superpower.ui.open_file")
local dashboard = lazy("superpower.views.dashboard")
local history = lazy("superpower.views.history")
local run_log = lazy("superpower.views.log")
local plans = lazy("superpower.views.plan")
local progress_window = lazy("superpower.views.progress")
local run_details = lazy("superpower.views.run_details")
local reasons = lazy("superpower.views.why")

local M = {}

--- Returns a completion function of `complete.lua`, which is loaded when it is used.
---@param name string
---@return fun(words: string[], lead: string, run_id?: string): string[]
local function completes(name)
  return function(...)
    return complete[name](...)
  end
end

---@return string? root
local function project()
  local root, err = session.project()
  if not root then
    notify.engine_error(assert(err))
  end
  return root
end

---@param root string
---@param list table[]
---@param name string
---@return table?
local function find(root, list, name)
  for _, entry in ipairs(list) do
    if entry.name == name then
      return entry
    end
  end
  local names = vim.tbl_map(function(entry)
    return entry.name
  end, list)
  local hint = suggest.hint(name, names)
  local known = #names > 0 and "known: " .. table.concat(names, ", ") or "there are none here"
  skipped_links.sentence(root, function(left)
    notify.error(('no superpower "%s"%s; %s%s'):format(name, hint, known, left))
  end)
end

---@param rest string
local function plan(rest)
  local words, err = args.words(rest)
  local inputs
  if words and words[1] then
    inputs, err = args.pairs(vim.list_slice(words, 2))
  end
  if not words or (words[1] and not inputs) then
    return notify.error(assert(err))
  end
  local function show(name)
    local root = project()
    if root then
      plans.show(root, name, inputs or {})
    end
  end
  if words[1] then
    show(words[1])
  else
    pick.superpower("Plan", show)
  end
end

---@param rest string
---@param _ boolean
---@param run_id? string
local function why(rest, _, run_id)
  local root, err = current.root(run_id)
  if not root then
    return notify.engine_error(assert(err))
  end
  local stage = nil
  if rest ~= "" then
    stage = tonumber(rest)
    if not stage or stage < 1 or stage % 1 ~= 0 then
      return notify.error(('why takes a stage\'s number, got "%s"'):format(rest))
    end
  end
  reasons.open(root, stage, run_id)
end

---@param rest string
local function check(rest)
  local root = project()
  if root then
    checker.run(root, rest ~= "" and rest or nil)
  end
end

---@param rest string
local function edit(rest)
  local root = project()
  if not root then
    return
  end
  local function open(name)
    session.ask("list", { root = root }, function(entries, err)
      local entry = entries and find(root, entries, name)
      if err then
        notify.engine_error(err)
      elseif entry then
        open_file.file(entry.path)
      end
    end)
  end
  if rest ~= "" then
    open(rest)
  else
    pick.superpower("Edit", open)
  end
end

---@param _ string
---@param _bang boolean
---@param run_id? string
local function runs(_, _bang, run_id)
  local root, err = current.root(run_id)
  if not root then
    return notify.engine_error(assert(err))
  elseif run_id then
    return run_details.open(root, run_id)
  end
  history.show(root)
end

--- Shows or hides the progress window. For a run that is not the project's current one, its details are shown.
---@param _ string
---@param _bang boolean
---@param run_id? string
local function progress(_, _bang, run_id)
  local window = progress_window
  if not run_id and window.is_open() then
    return window.close()
  end
  local root, err = current.root(run_id)
  if not root then
    return notify.engine_error(assert(err))
  end
  local known = store.get(root)
  if known and (not run_id or vim.startswith(known.run_id, run_id)) then
    return window.open(root)
  end
  current.ask(root, nil, function(run, fault)
    if run_id and not (run and vim.startswith(run.run_id, run_id)) then
      run_details.open(root, run_id)
    elseif run then
      window.open(root)
    elseif fault then
      notify.engine_error(fault)
    else
      notify.info("no run to show in this project")
    end
  end)
end

---@param _ string
---@param _bang boolean
---@param run_id? string
local function log(_, _bang, run_id)
  local root, err = current.root(run_id)
  if not root then
    return notify.engine_error(assert(err))
  end
  run_log.open(root, run_id)
end

---@param rest string
local function new(rest)
  local words, err = args.words(rest)
  if not words then
    return notify.error(assert(err))
  elseif #words == 0 or #words > 2 then
    return notify.error("new takes a name in kebab-case and an optional template: :Superpower new NAME [TEMPLATE]")
  end
  local root = project()
  if root then
    scaffold.new(root, words[1], words[2])
  end
end

local function show_dashboard()
  local root = project()
  if root then
    dashboard.open(root)
  end
end

--- Adds these sub-commands to the table.
---@param subcommands table<string, superpower.SubCommand>
function M.add(subcommands)
  subcommands.dashboard = {
    desc = "superpowers, runs, and what waits",
    bare = true,
    impl = show_dashboard,
  }
  subcommands.list = {
    desc = "the superpowers: the dashboard, or with a bang their list",
    bare = true,
    bang = true,
    printed = true,
    impl = show_dashboard,
  }
  subcommands.plan = {
    desc = "what would run, skip and ask, and why; starts nothing",
    usage = "NAME [key=value …]",
    bang = true,
    printed = true,
    complete = completes("plan"),
    impl = plan,
  }
  subcommands.why = {
    desc = "why a stage runs or is skipped",
    usage = "[run=ID] [STAGE]",
    of_run = "any",
    complete = completes("why"),
    impl = why,
  }
  subcommands.progress = {
    desc = "show or hide the progress window",
    usage = "[run=ID]",
    bare = true,
    of_run = "any",
    impl = progress,
  }
  subcommands.status = {
    desc = "where the run is: the progress window, or with a bang its stages",
    usage = "[run=ID]",
    bare = true,
    bang = true,
    printed = true,
    of_run = "any",
    impl = progress,
  }
  subcommands.log = {
    desc = "the log of the project's runs, or of one",
    usage = "[run=ID]",
    bare = true,
    bang = true,
    printed = true,
    of_run = "any",
    impl = log,
  }
  subcommands.check = {
    desc = "check every declaration and fill the quickfix list",
    usage = "[NAME]",
    bang = true,
    printed = true,
    complete = completes("name"),
    impl = check,
  }
  subcommands.edit = { desc = "open a declaration", usage = "NAME", complete = completes("name"), impl = edit }
  subcommands.runs = {
    desc = "the runs of this project, newest first, or one of them",
    usage = "[run=ID]",
    bare = true,
    bang = true,
    printed = true,
    of_run = "any",
    impl = runs,
  }
  subcommands.new = {
    desc = "a new declaration: blank, or from a template",
    usage = "NAME [TEMPLATE]",
    complete = completes("new"),
    impl = new,
  }
end

return M
