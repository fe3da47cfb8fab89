--- The gate that waits: when its window opens, and what happens if it is decided elsewhere.
local question = require("superpower.ask.question")
local errors = require("superpower.base.errors")
local text = require("superpower.base.text")
local config = require("superpower.config")
local attention = require("superpower.editor.attention")
local actions = require("superpower.editor.actions")
local diff = require("superpower.gate.diff")
local latest = require("superpower.gate.latest")
local outcome = require("superpower.gate.outcome")
local review_request = require("superpower.gate.review_request")
local gate_shown = require("superpower.gate.shown")
local Window = require("superpower.gate.window")
local notify = require("superpower.notify")
local runs = require("superpower.runs")
local current = require("superpower.runs.current")
local comment_form = require("superpower.ui.comment")
local Decision = require("superpower.ui.decision")
local run_text = require("superpower.ui.run_text")
local verbs = require("superpower.verbs")

local M = {}

local open ---@type superpower.GateWindow?
local reached = {} ---@type table<string, string> by root: a gate whose window has not been offered yet
local decided = {} ---@type table<string, "key"|"command"|"lua"> gates that this editor decided, and how

--- Returns the gate that a typed decision is for.
M.shown = gate_shown.get

---@return boolean
function M.is_open()
  return open ~= nil and open.window:is_open()
end

--- Whether keys work in the gate's window, after its quiet moment.
---@return boolean
function M.is_armed()
  return open ~= nil and open.window.armed == true
end

--- Refusals of an approval for a list that is not the current one.
local not_as_shown = { ["changed-since-shown"] = true, ["not-shown"] = true }

--- Decides the named gate, and closes its window.
---@param fields superpower.Decide
---@param callback superpower.Callback
function M.decide(fields, callback)
  local key = latest.key(fields.run_id, fields.gate)
  decided[key] = fields.how or "lua"
  verbs.decide(fields, function(err, value)
    if err then
      decided[key] = nil
      local changed = not_as_shown[err.code] and (err.data and err.data.files or {})
      local here = open and open:alive() and open:key() == key
      if here and (changed or err.code == "given-up") then -- a question about new changes, left open
        assert(open):reload(changed or nil)
        err = vim.tbl_extend("force", err, { shown = changed and true or nil })
      elseif changed and fields.root and not notify.headless() then
        M.open(fields.root, { run_id = fields.run_id })
      end
      return callback(err, value)
    elseif open and open:key() == key then
      open.deciding = nil
      open.window:close()
    end
    diff.decided(fields.run_id, fields.gate, true)
    comment_form.drop(key)
    callback(nil, value)
  end)
end

---@param window superpower.GateWindow
---@param decision string
---@param comment string?
---@param done? fun(err: string?)
local function from_window(window, decision, comment, done)
  if window.deciding then
    return done and done("a decision is already being sent")
  end
  window.deciding = review_request.new()
  M.decide({
    root = window.run.root,
    decision = decision,
    comment = comment,
    run_id = window.run.run_id,
    gate = window.run.gate.id,
    review = window.review.review,
    look = window.deciding.number,
    trust = window.review.trust and window.review.trust.digest,
    how = "key",
  }, function(err)
    window.deciding = nil
    if err and err.code == "look-given-up" then -- that is what `q` asked for
      return done and done("given up: nothing was decided")
    elseif err and err.shown then -- the window says it
      return done and done(errors.text(err))
    elseif err then -- it may have been decided elsewhere meanwhile
      latest.of(window.run.root, window.run.run_id, function(now)
        M.follow(now or window.run)
      end)
    end
    if done then
      done(err and errors.text(err))
    elseif err then
      notify.engine_error(err)
    end
  end)
end

--- Opens the window of the gate that `run` waits at.
---@param run superpower.Snapshot
---@param review superpower.Review
local function show(run, review)
  runs.show(run.root)
  -- A user in a window whose gate is decided keeps the cursor there: the next keys are not meant for another gate.
  local in_dead = open and open.window.dead and open.window:is_open() and open.window:inside() or false
  if open and open.window:is_open() and not in_dead then
    open.window:close()
  end
  gate_shown.remember(run, review)
  open = Window.open(run, review, from_window, function(window)
    if open == window then
      open = nil
    elseif window.window:inside() then
      vim.schedule(function()
        if M.is_open() then
          actions.enter(assert(open).window.float.win)
        end
      end)
    end
  end, not in_dead)
  if in_dead then
    notify.call(run_text.gate(run), "info", true)
  end
end

--- Moves the cursor into the window of this gate, if it is open. Returns whether it is.
---@param run superpower.Snapshot
---@return boolean
local function focus(run)
  if not open or not open:shows(run) then
    return false
  end
  actions.enter(open.window.float.win)
  return true
end

--- Opens the gate that this run waits at.
---@param run superpower.Snapshot
local function open_on(run)
  runs.show(run.root)
  if focus(run) then
    return
  end
  review_request.awaited(run, function(review, fault)
    latest.still(run, function(now)
      if fault then
        notify.engine_error(fault)
      elseif now and not focus(run) then
        show(now, review)
      elseif not now then
        notify.info("this gate no longer waits")
      end
    end)
  end)
end

--- Opens the waiting gate of a project, or of a named run, on the user's request.
---@param root string
---@param opts? { quiet?: boolean, run_id?: string } quiet: say nothing if none waits
function M.open(root, opts)
  local quiet, run_id = opts and opts.quiet, opts and opts.run_id
  local function open_run(run)
    if run and run.gate then
      open_on(run)
    elseif not quiet then
      question.open_or_report(root, run)
    end
  end
  current.ask(root, run_id, function(run, err)
    local shown = gate_shown.get()
    if err then
      notify.engine_error(err)
    elseif not run_id and shown and shown.root == root and (not run or run.run_id ~= shown.run_id) then
      -- Another run was started meanwhile: the user still means the gate that this editor shows.
      latest.of(root, shown.run_id, function(other)
        open_run(other and other.gate and other or run)
      end)
    else
      open_run(run)
    end
  end)
end

--- Opens the window of a gate that was just reached, or says that it waits.
---@param run superpower.Snapshot
local function offer(run)
  local function say()
    notify.call(run_text.gate(run), "info", true)
  end
  if not config.get().gate.open or Decision.any() then
    return say()
  end
  review_request.review(run, function(review, fault)
    if fault then
      return latest.still(run, function(now)
        return now and say()
      end)
    end
    attention.when_quiet(function()
      latest.still(run, function(now)
        if now and (Decision.any() or attention.busy()) then
          say()
        elseif now then
          show(now, review)
        end
      end)
    end, say)
  end)
end

--- Handles a run that has reached a gate. The window opens once the snapshot says so too.
---@param event { root: string, run_id: string, gate: string }
function M.opened(event)
  reached[event.root] = latest.key(event.run_id, event.gate)
  local run = runs.get(event.root)
  if run then
    M.follow(run)
  end
end

--- Offers the gate again, because a user interface was attached: opens one that was reached without a user, and
--- reports one that was left for later.
---@param run superpower.Snapshot
function M.offer_again(run)
  if not run.gate or run.state ~= "paused" then
    return
  elseif reached[run.root] == latest.key(run.run_id, run.gate.id) then
    M.follow(run)
  elseif not M.is_open() then
    notify.call(run_text.gate(run), "info", true)
  end
end

---@param words string
local function mark_dead(words)
  if open and open:alive() then
    open.window:die({ { { text.line(words), "SuperpowerGate" } } })
  end
end

--- Handles a decided gate: by this editor, or elsewhere.
---@param event { run_id: string, gate: string, decision: string, comment?: string, by?: string, how?: string }
function M.decided(event)
  local key = latest.key(event.run_id, event.gate)
  diff.decided(event.run_id, event.gate, decided[key] ~= nil)
  if decided[key] == "lua" then -- nobody may have pressed a key for it
    notify.info("decided from Lua: " .. outcome.decided(event))
  elseif not decided[key] and open and open:key() == key then
    mark_dead("Decided elsewhere: " .. outcome.decided(event))
  end
end

--- Updates the window for a new snapshot: a window whose gate no longer waits becomes dead.
---@param run superpower.Snapshot
function M.follow(run)
  local here = run.gate and run.state == "paused" and latest.key(run.run_id, run.gate.id) == reached[run.root]
  if here and not notify.headless() then -- headless, it is kept until a user interface is attached
    reached[run.root] = nil
    offer(run)
  end
  diff.follow(run.root, function(of, done)
    latest.still({ root = of.root, run_id = of.run_id, gate = { id = of.gate } }, function(now)
      done(now ~= nil, decided[latest.key(of.run_id, of.gate)] ~= nil)
    end)
  end)
  local window = open
  if not window or window.run.root ~= run.root then
    return
  end
  local function is_current()
    return window == open and window:alive() and not window.deciding and not decided[window:key()]
  end
  local function follow_window(now)
    if now or not is_current() then
      return
    end
    latest.of(run.root, window.run.run_id, function(newest)
      outcome.describe(window.run.gate, newest, function(words)
        return is_current() and mark_dead(words)
      end)
    end)
  end
  if is_current() then
    latest.still(window.run, follow_window)
  end
end

return M
