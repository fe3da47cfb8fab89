--- The gate that waits: when its window opens, and what becomes of it when somebody else decides.
local question = require("superpower.ask.question")
local errors = require("superpower.base.errors")
local text = require("superpower.base.text")
local config = require("superpower.config")
local attention = require("superpower.editor.attention")
local theirs = require("superpower.editor.theirs")
local diff = require("superpower.gate.diff")
local outcome = require("superpower.gate.outcome")
local Window = require("superpower.gate.window")
local notify = require("superpower.notify")
local runs = require("superpower.runs")
local current = require("superpower.runs.current")
local session = require("superpower.session")
local comment_form = require("superpower.ui.comment")
local Decision = require("superpower.ui.decision")
local run_words = require("superpower.ui.words")
local verbs = require("superpower.verbs")

local M = {}

---@class superpower.GateShown
---@field root string
---@field run_id string
---@field gate string
---@field trust? string the digest of what it showed as changed since it was trusted

local shown ---@type superpower.GateShown? the gate that this editor last showed
local open ---@type superpower.GateWindow?
local reached = {} ---@type table<string, string> by root: a gate whose window is still to be offered
local decided = {} ---@type table<string, true> by this editor

---@param run_id string
---@param gate string
---@return string
local function key_of(run_id, gate)
  return run_id .. "/" .. gate
end

--- The gate that a typed decision is for.
---@return superpower.GateShown?
function M.shown()
  return shown
end

---@return boolean
function M.is_open()
  return open ~= nil and open.window:is_open()
end

--- Whether keys count in the gate's window: it has been shown for a quiet moment.
---@return boolean
function M.is_armed()
  return open ~= nil and open.window.armed == true
end

--- The newest of a run, which need not be the one that its project is at now.
---@param root string
---@param run_id string
---@return superpower.Snapshot?
local function newest(root, run_id)
  local now = runs.get(root)
  if now and now.run_id == run_id then
    return now
  end
  return (current.status(root, run_id))
end

--- Decides the gate that is named; its window, if it is open, closes.
---@param fields superpower.Decide
---@param callback superpower.Callback
function M.decide(fields, callback)
  local key = key_of(fields.run_id, fields.gate)
  decided[key] = true
  verbs.decide(fields, function(err, value)
    if err then
      decided[key] = nil
      return callback(err, value)
    elseif open and open:key() == key then
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
    return done and done("the decision before this one is on its way")
  end
  window.deciding = true
  M.decide({
    root = window.run.root,
    decision = decision,
    comment = comment,
    run_id = window.run.run_id,
    gate = window.run.gate.id,
    trust = window.review.trust and window.review.trust.digest,
  }, function(err)
    window.deciding = false
    if err then -- it may have been decided elsewhere meanwhile
      M.follow(newest(window.run.root, window.run.run_id) or window.run)
    end
    if done then
      done(err and errors.text(err))
    elseif err then
      notify.fault(err)
    end
  end)
end

---@param run superpower.Snapshot
---@return boolean
local function is_open_on(run)
  return open ~= nil
    and open.window:is_open()
    and open:alive()
    and open.window:floats()
    and open:key() == key_of(run.run_id, run.gate.id)
end

--- Opens the window of the gate that `run` waits at.
---@param run superpower.Snapshot
---@param review superpower.Review
local function show(run, review)
  runs.show(run.root)
  -- Who looks at a window whose gate is decided keeps the cursor there: what they type next is not for another gate.
  local read = open and open.window.dead and open.window:is_open() and open.window:inside() or false
  if open and open.window:is_open() and not read then
    open.window:close()
  end
  local trust = review.trust and review.trust.digest or nil
  shown = { root = run.root, run_id = run.run_id, gate = run.gate.id, trust = trust }
  open = Window.open(run, review, from_window, function(window)
    if open == window then
      open = nil
    elseif window.window:inside() then
      vim.schedule(function()
        if M.is_open() then
          theirs.enter(assert(open).window.float.win)
        end
      end)
    end
  end, not read)
  if read then
    notify.news(run_words.gate(run), "info", true)
  end
end

--- The run again, if it waits at that gate still.
---@param run superpower.Snapshot
---@return superpower.Snapshot?
local function still(run)
  local now = newest(run.root, run.run_id)
  if now and now.gate and key_of(now.run_id, now.gate.id) == key_of(run.run_id, run.gate.id) then
    return now
  end
end

--- No gate waits: what does, if anything.
---@param root string
---@param run superpower.Snapshot?
local function none(root, run)
  if run and run_words.opens(run) == "answer" then
    return question.open(root, run.run_id)
  end
  local waits = run and run.state == "paused" and (run.summary or "") ~= ""
  local words = waits and ("no gate waits here; %s: %s"):format(run.superpower, run.summary) or "no gate waits here"
  notify.info(text.line(words))
end

--- Opens the waiting gate of a project, or of a run that is named, because the user asked for it.
---@param root string
---@param opts? { quiet?: boolean, run_id?: string } quiet: say nothing where none waits
function M.open(root, opts)
  local run_id = opts and opts.run_id
  local run, err = current.status(root, run_id)
  if not run_id and shown and shown.root == root and (not run or run.run_id ~= shown.run_id) then
    -- Somebody has begun another run: the gate that this editor shows is asked for still.
    local other = newest(root, shown.run_id)
    run = other and other.gate and other or run
  end
  if err then
    return notify.fault(err)
  elseif not run or not run.gate then
    return opts and opts.quiet or none(root, run)
  end
  runs.show(root)
  local function focus()
    if is_open_on(run) then
      theirs.enter(assert(open).window.float.win)
      return true
    end
  end
  if focus() then
    return
  end
  session.ask("review", { root = root, run_id = run.run_id }, function(review, fault)
    local now = still(run)
    if fault then
      notify.fault(fault)
    elseif now and not focus() then
      show(now, review)
    elseif not now then
      notify.info("that gate no longer waits")
    end
  end)
end

--- Opens the window of a gate that has just been reached, or says that it waits.
---@param run superpower.Snapshot
local function offer(run)
  local function say()
    notify.news(run_words.gate(run), "info", true)
  end
  if not config.get().gate.open or Decision.any() then
    return say()
  end
  session.ask("review", { root = run.root, run_id = run.run_id }, function(review, fault)
    if fault then
      return still(run) and say()
    end
    attention.when_quiet(function()
      local now = still(run)
      if now and Decision.any() then
        say()
      elseif now then
        show(now, review)
      end
    end, say)
  end)
end

--- A run has reached a gate. The window opens once the snapshot says so too: it is what the review is made from.
---@param event { root: string, run_id: string, gate: string }
function M.opened(event)
  reached[event.root] = key_of(event.run_id, event.gate)
  local run = runs.get(event.root)
  if run then
    M.follow(run)
  end
end

--- A user interface has come: a gate that was reached while nobody was there is offered, one that was left for later is
--- said.
---@param run superpower.Snapshot
function M.renew(run)
  if not run.gate or run.state ~= "paused" then
    return
  elseif reached[run.root] == key_of(run.run_id, run.gate.id) then
    M.follow(run)
  elseif not M.is_open() then
    notify.news(run_words.gate(run), "info", true)
  end
end

---@param words string
local function dies(words)
  if open and open:alive() then
    open.window:die({ { { text.line(words), "SuperpowerGate" } } })
  end
end

--- A gate has been decided: by this editor, or elsewhere.
---@param event { run_id: string, gate: string, decision: string, comment?: string, by?: string }
function M.decided(event)
  local key = key_of(event.run_id, event.gate)
  diff.decided(event.run_id, event.gate, decided[key] == true)
  if decided[key] or not open or open:key() ~= key then
    return
  end
  dies(outcome.decided(event))
end

--- Keeps the window true to the run: one whose gate no longer waits is dead.
---@param run superpower.Snapshot
function M.follow(run)
  local here = run.gate and run.state == "paused" and key_of(run.run_id, run.gate.id) == reached[run.root]
  if here and not notify.headless() then -- with nobody there it is kept for who comes
    reached[run.root] = nil
    offer(run)
  end
  diff.follow(run.root, function(of)
    return still({ root = of.root, run_id = of.run_id, gate = { id = of.gate } }) ~= nil,
      decided[key_of(of.run_id, of.gate)] == true
  end)
  if not open or open.run.root ~= run.root or open.deciding or decided[open:key()] then
    return
  end
  if open:alive() and not still(open.run) then
    dies(outcome.became(open.run.gate, newest(run.root, open.run.run_id)))
  end
end

return M
