--- Wires the Lua half: the only file that knows which feature handles which event. It is loaded once, by the user's
--- first use of the plugin. The features are loaded when their events come.
local lazy = require("superpower.base.lazy")

local manual = lazy("superpower.ask.manual")
local permission = lazy("superpower.ask.permission")
local config = lazy("superpower.config")
local attention = lazy("superpower.editor.attention")
local buffers = lazy("superpower.editor.buffers")
local events = lazy("superpower.events")
local gate = lazy("superpower.gate")
local progress_message = lazy("superpower.notices.progress_message")
local run_notices = lazy("superpower.notices.run_notices")
local statusline = lazy("superpower.notices.statusline")
local notify = lazy("superpower.notify")
local runs = lazy("superpower.runs")
local current = lazy("superpower.runs.current")
local driver = lazy("superpower.runs.driver")
local user_functions = lazy("superpower.runs.user_functions")
local session = lazy("superpower.session")
local decision = lazy("superpower.ui.decision")
local highlights = lazy("superpower.ui.highlights")
local progress = lazy("superpower.views.progress")

local M = {}

--- Calls a function of a feature for the events of a type.
---@param type string
---@param feature table
---@param name string
local function wire(type, feature, name)
  events.on(type, function(event)
    feature[name](event)
  end)
end

--- Calls the user, who may look elsewhere. With several editors, one of them gets this event.
local function call_user()
  wire("attention", attention, "call")
  events.on("attention", function(event)
    if #config.get().attention_command > 0 and not attention.focused() then
      session.call("call-user", { root = event.root, title = event.title, body = event.body })
    end
  end)
end

--- Stores snapshots and logs, and updates what follows them.
local function follow_runs()
  events.on("log", function(event)
    runs.append(event.root, event.line)
  end)
  events.on("snapshot", function(event)
    local run = event.run
    if not run then
      return
    end
    runs.put(run)
    attention.watch(runs.driving())
    progress_message.follow(run)
    gate.follow(run)
    run_notices.follow(run)
  end)
end

--- Follows the files that agents change, in this editor's buffers.
local function follow_files()
  for _, type in ipairs({ "gate-opened", "run-paused", "run-finished", "stage-finished" }) do
    events.on(type, function(event)
      buffers.check(event.root)
    end)
  end
  events.on("stage-started", function(event)
    buffers.report_unsaved(event.root)
    buffers.record(event.root)
  end)
  events.on("files-changed", function(event)
    buffers.changed(event.root, event.paths or {})
  end)
end

--- Wires everything that asks the user.
local function wire_questions()
  wire("ask-fact", user_functions, "fact")
  wire("ask-prompt", user_functions, "prompt")
  wire("gate-opened", gate, "opened")
  wire("gate-decided", gate, "decided")
  wire("permission", permission, "asked")
  wire("permission-gone", permission, "gone")
  wire("manual", manual, "asked")
  wire("manual-gone", manual, "gone")
  for _, type in ipairs({ "run-paused", "run-finished" }) do
    wire(type, manual, "stopped")
    wire(type, permission, "stopped")
  end
end

--- Wires the messages to the user.
local function wire_notices()
  events.on("notice", function(event)
    if event.answer or notify.headless() then
      -- The result of a verb is shown whatever the option `notify` says. Headless, these lines are all that is shown.
      notify.info(event.message)
    else
      notify.news(event.message, event.level or "info")
    end
  end)
  events.on("run-paused", function(event)
    if event.reason ~= "gate" then
      run_notices.paused(event)
    end
  end)
  wire("run-finished", run_notices, "finished")
  events.on("panic", function(event)
    notify.error(("internal error: %s (log: %s)"):format(event.message or "?", event.log or "?"))
  end)
end

--- Shows the effects of verbs that the user has typed in this editor.
local function show_verbs()
  events.on("verb-drives", function(event)
    if config.get().progress.open and not notify.headless() then
      progress.open(event.root)
    end
  end)
  events.on("verb-resumed", function(event)
    if notify.headless() then
      return
    end
    local others = event.others or 0
    if others > 0 then
      notify.info(current.others(others))
    end
    if event.state == "paused" then
      gate.open(event.root, { quiet = true, run_id = event.run_id })
    end
  end)
end

--- Handles user interfaces that attach or detach. A detached server continues without windows; a new user interface is
--- shown what waits.
local function follow_user_interfaces()
  vim.api.nvim_create_autocmd({ "UIEnter", "UILeave" }, {
    group = vim.api.nvim_create_augroup("superpower-ui", { clear = true }),
    callback = function(args)
      decision.rearm_all()
      if args.event == "UIEnter" then
        vim.schedule(function()
          for _, run in pairs(runs.all()) do
            gate.offer_again(run)
          end
          permission.offer_again()
          manual.offer_again()
        end)
      end
    end,
  })
end

--- Follows runs that other editors drive, and the process that drives this one's.
local function follow_other_editors()
  wire("driver-silent", driver, "silent")
  wire("driver-gone", driver, "gone")
  events.on("run-seen", function(event)
    local run = event.run
    gate.follow(run)
    if event.died then
      run_notices.paused({
        root = run.root,
        run_id = run.run_id,
        superpower = run.superpower,
        reason = run.reason,
        detail = run.detail,
        stage = run.current_stage,
        total = run.total,
      })
    end
  end)
end

local started = false

--- Wires everything, once.
function M.start()
  if started then
    return
  end
  started = true
  call_user()
  follow_runs()
  follow_other_editors()
  follow_files()
  wire_questions()
  wire_notices()
  show_verbs()
  follow_user_interfaces()
  highlights.setup()
  statusline.listen()
  attention.listen()
  events.listen()
end

--- Starts, and returns a module of the plugin. Everything that the user types, and scripts, enter here.
---@param module string
---@return table
function M.load(module)
  M.start()
  return require("superpower." .. module)
end

--- Returns a module of the plugin without starting, for completion, which needs no events.
---@param module string
---@return table
function M.peek(module)
  return require("superpower." .. module)
end

return M
