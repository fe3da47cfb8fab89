--- The gate that waits: when its window opens, what its keys do, and what becomes of it when somebody else decides.
local runs = require("superpower.runs")

local M = {}

---@class superpower.GateShown
---@field root string
---@field run_id string
---@field gate string

---@class superpower.GateWindow : superpower.GateShown
---@field window superpower.Decision
---@field review superpower.Review
---@field page superpower.ApprovalPage
---@field deciding boolean

local shown ---@type superpower.GateShown? the gate that this editor last showed
local open ---@type superpower.GateWindow?
local drafts = {} ---@type table<string, string>
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

---@return superpower.ReviewFile?
local function file_here()
  return open and open.page.files[vim.api.nvim_win_get_cursor(0)[1]]
end

--- Decides by a typed verb; the window of that gate, if it is open, closes.
---@param fields superpower.Decide
---@param callback superpower.Callback
function M.decide(fields, callback)
  local key = key_of(fields.run_id, fields.gate)
  decided[key] = true
  require("superpower.verbs").decide(fields, function(err, value)
    if err then
      decided[key] = nil
    elseif open and key_of(open.run_id, open.gate) == key then
      open.window:close()
    end
    callback(err, value)
  end)
end

---@param decision "approve"|"changes"|"reject"
---@param comment string?
---@param done? fun(err: string?)
local function decide(decision, comment, done)
  local this = open
  if not this or this.deciding then
    return
  end
  this.deciding = true
  local key = key_of(this.run_id, this.gate)
  decided[key] = true
  require("superpower.verbs").decide({
    root = this.root,
    decision = decision,
    comment = comment,
    run_id = this.run_id,
    gate = this.gate,
  }, function(err)
    this.deciding = false
    if err then
      decided[key] = nil
      if done and err.code ~= "given-up" then
        done(require("superpower.faults").text(err))
      else
        require("superpower.notify").fault(err)
      end
      return
    end
    drafts[key] = nil
    if done then
      done()
    end
    this.window:close()
  end)
end

---@param decision "changes"|"reject"
local function comment(decision)
  local this = open
  if not this then
    return
  end
  local key = key_of(this.run_id, this.gate)
  local hints = {
    decision == "changes" and "What should change? :w sends, :q goes back."
      or "Why? May be empty. :w rejects, :q goes back.",
  }
  for _, file in ipairs(this.review.files or {}) do
    table.insert(hints, ("  %s %s"):format(file.status, require("superpower.ui.text").line(file.path)))
  end
  require("superpower.ui.comment").open({
    title = decision == "changes" and "Request changes" or "Reject",
    draft = drafts[key],
    hints = hints,
    send = function(said, done)
      if this ~= open or not this.window:is_open() or this.window.dead then
        drafts[key] = said
        done("too late: this gate has been decided. The comment stays in its buffer.")
      elseif decision == "changes" and said == "" then
        done("write what should change, then :w")
      else
        decide(decision, said ~= "" and said or nil, done)
      end
    end,
    back = function(draft)
      drafts[key] = draft
      vim.schedule(function()
        if this.window:is_open() then
          vim.api.nvim_set_current_win(this.window.float.win)
        end
      end)
    end,
  })
end

---@type superpower.DecisionKey[]
local normal_keys
---@type superpower.DecisionKey[]
local reject_keys

local function ask_again()
  if open then
    open.window:ask("reject: the run ends here, no later stage starts", reject_keys)
  end
end

local later = {
  lhs = "q",
  label = "later",
  desc = "close; the gate stays open",
  always = true,
  fn = function()
    if open then
      open.window:close()
    end
  end,
}

normal_keys = {
  {
    lhs = "a",
    label = "approve",
    desc = "approve: the run goes on",
    fn = function()
      decide("approve")
    end,
  },
  {
    lhs = "c",
    label = "changes",
    desc = "request changes, with a comment",
    fn = function()
      comment("changes")
    end,
  },
  { lhs = "r", label = "reject", desc = "reject: the run ends (asks once more)", fn = ask_again },
  {
    lhs = "d",
    label = "diff",
    desc = "diff of the file under the cursor",
    fn = function()
      require("superpower.ui.diff").open(open and open.root, file_here())
    end,
  },
  {
    lhs = "o",
    label = "open",
    desc = "open the file under the cursor",
    fn = function()
      require("superpower.ui.diff").edit(open and open.root, file_here())
    end,
  },
  later,
}

reject_keys = {
  {
    lhs = "y",
    label = "reject the run",
    desc = "reject the run",
    fn = function()
      decide("reject")
    end,
  },
  {
    lhs = "c",
    label = "reject with a comment",
    desc = "reject with a comment",
    fn = function()
      comment("reject")
    end,
  },
  {
    lhs = "n",
    label = "go back",
    desc = "go back",
    fn = function()
      if open then
        open.window:ask(nil, normal_keys)
      end
    end,
  },
  later,
}

---@param run superpower.Snapshot
---@param review superpower.Review
---@param enter boolean
local function show(run, review, enter)
  local float = require("superpower.ui.float")
  local screen = float.screen()
  local width = math.min(76, screen.width - 4)
  local page = require("superpower.ui.approval").page(review, run, width)
  local text = require("superpower.ui.text")
  local rows = 0
  for _, line in ipairs(page.lines) do
    local cells = 0
    for _, chunk in ipairs(line) do
      cells = cells + text.width(chunk[1])
    end
    rows = rows + math.max(1, math.ceil(cells / width))
  end
  local at = ("gate · stage %d/%d"):format(run.gate.stage, run.total)
  local this = {
    root = run.root,
    run_id = run.run_id,
    gate = run.gate.id,
    review = review,
    page = page,
    deciding = false,
  }
  local title = text.cut(text.line(review.label), width - text.width(at) - 6)
  this.window = require("superpower.ui.decision").open({
    filetype = "superpower-gate",
    title = { { " " .. title .. " ", "SuperpowerTitle" } },
    right = { { " " .. at .. " ", "SuperpowerGate" } },
    help = "Approval",
    width = width,
    height = math.min(rows + 1, math.max(8, math.floor(screen.height * 0.8))),
    enter = enter,
    keys = normal_keys,
    closed = function()
      if open == this then
        open = nil
      end
    end,
  })
  open = this
  shown = { root = run.root, run_id = run.run_id, gate = run.gate.id }
  float.paint(this.window.float.buf, page.lines)
  pcall(vim.treesitter.start, this.window.float.buf, "markdown")
end

--- Opens the waiting gate of a project, because the user asked for it.
---@param root string
---@param quiet? boolean say nothing where none waits
function M.open(root, quiet)
  local notify = require("superpower.notify")
  local run, err = require("superpower.session").status(root)
  if err then
    notify.fault(err)
    return
  end
  if not run or not run.gate then
    if not quiet then
      notify.info("no gate waits here")
    end
    return
  end
  runs.show(root)
  if open and open.window:is_open() then
    if open.run_id == run.run_id and open.gate == run.gate.id and not open.window.dead then
      vim.api.nvim_set_current_win(open.window.float.win)
      return
    end
    open.window:close()
  end
  local review, fault = require("superpower.session").call("review", { root = root, run_id = run.run_id })
  if fault then
    notify.fault(fault)
    return
  end
  show(run, review, true)
end

---@param run superpower.Snapshot|{ superpower: string, gate: superpower.GateRef, total: integer }
---@return string
function M.words(run)
  return ("%s waits at gate %d/%d: %s. :Superpower gate opens it"):format(
    run.superpower,
    run.gate.stage,
    run.total,
    require("superpower.ui.text").line(run.gate.label)
  )
end

--- A run has reached a gate.
---@param event { root: string, run_id: string, stage: integer, gate: string, label: string, superpower: string }
function M.opened(event)
  if require("superpower.notify").headless() then
    return
  end
  local run = require("superpower.session").status(event.root)
  if not run or not run.gate or run.gate.id ~= event.gate then
    return
  end
  local function say()
    require("superpower.notify").news(M.words(run), "info", true)
  end
  if not require("superpower.config").get().gate.open or M.is_open() then
    say()
    return
  end
  require("superpower.attention").when_quiet(function()
    local now = runs.get(event.root)
    if not M.is_open() and now and now.gate and now.gate.id == event.gate then
      M.open(event.root, true)
    end
  end, say)
end

--- A gate has been decided: by this editor, or elsewhere.
---@param event { run_id: string, gate: string, decision: string, comment?: string, by?: string }
function M.decided(event)
  if decided[key_of(event.run_id, event.gate)] then
    return
  end
  if open and open.run_id == event.run_id and open.gate == event.gate then
    local words = { approve = "approved", changes = "changes requested", reject = "rejected" }
    local line = ("%s by %s"):format(words[event.decision] or event.decision, event.by or "someone else")
    if event.comment and event.comment ~= "" then
      line = line .. ": " .. require("superpower.ui.text").line(event.comment)
    end
    open.window:die({ { { "Decided elsewhere: " .. line, "SuperpowerGate" } } })
  end
end

--- Keeps the window true to the run: what no longer waits is dead.
---@param run superpower.Snapshot
function M.follow(run)
  if not open or open.root ~= run.root or open.deciding or decided[key_of(open.run_id, open.gate)] then
    return
  end
  local same = run.run_id == open.run_id and run.gate and run.gate.id == open.gate
  if not same and not open.window.dead then
    open.window:die({
      { { "This gate no longer waits: " .. (run.detail or run.summary or run.state), "SuperpowerGate" } },
    })
  end
end

return M
