--- The approval window: the question, the report, the changes, and the keys that answer. It belongs to one gate of one
--- run for its whole life.
local text = require("superpower.base.text")
local actions = require("superpower.editor.actions")
local diff = require("superpower.gate.diff")
local page = require("superpower.gate.page")
local review_request = require("superpower.gate.review_request")
local shown = require("superpower.gate.shown")
local notify = require("superpower.notify")
local comment_form = require("superpower.ui.comment")
local Decision = require("superpower.ui.decision")
local float = require("superpower.ui.float")
local markdown = require("superpower.ui.markdown")
local Page = require("superpower.ui.page")

---@class superpower.GateWindow
---@field run superpower.Snapshot
---@field review superpower.Review
---@field page superpower.ApprovalPage
---@field window superpower.Decision
---@field deciding? superpower.ReviewRequest the comparison that a decision waits for
---@field reloading? superpower.ReviewRequest the request for a new list
---@field decide fun(decision: string, comment: string?, done?: fun(err: string?))
local M = {}
M.__index = M

--- Returns the file under the cursor, else the next one below, else the first, and moves the cursor there.
---@return superpower.ReviewFile?
function M:file_here()
  local win = self.window.float.win
  local from, last = vim.api.nvim_win_get_cursor(win)[1], vim.api.nvim_buf_line_count(self.window.float.buf)
  for offset = 0, last - 1 do
    local row = (from - 1 + offset) % last + 1
    if self.page.files[row] then
      vim.api.nvim_win_set_cursor(win, { row, 0 })
      return self.page.files[row]
    end
  end
end

---@return string
function M:key()
  return self.run.run_id .. "/" .. self.run.gate.id
end

--- Whether the window can still decide.
---@return boolean
function M:alive()
  return self.window:is_open() and not self.window.dead
end

--- Whether it is where this run's gate can be decided.
---@param run superpower.Snapshot
---@return boolean
function M:shows(run)
  return self:alive() and self.window:floats() and self:key() == run.run_id .. "/" .. run.gate.id
end

---@param decision "changes"|"reject"
function M:comment(decision)
  local changes = decision == "changes"
  local hints = {
    changes and "What should change? :w sends, :q goes back." or "Why? This may be empty. :w rejects, :q goes back.",
  }
  for _, file in ipairs(self.review.files or {}) do
    table.insert(hints, ("  %s %s"):format(file.status, text.line(file.path)))
  end
  comment_form.open({
    title = changes and "Request changes" or "Reject",
    key = self:key(),
    hints = hints,
    send = function(said, done)
      if not self:alive() then
        done("too late: this gate no longer waits; your comment stays in the buffer")
      elseif changes and said == "" then
        done("write what should change, then :w")
      else
        self.decide(decision, said ~= "" and said or nil, done)
      end
    end,
    back = function()
      if self.window:is_open() then
        actions.enter(self.window.float.win)
      end
    end,
  })
end

---@return superpower.DecisionKey
function M:later()
  return {
    lhs = "q",
    label = "later",
    desc = "close; the gate stays open",
    always = true,
    fn = function()
      self:cancel_requests()
      self.window:close()
    end,
  }
end

--- Cancels the comparisons that the window waits for.
function M:cancel_requests()
  for _, pending in pairs({ self.reloading, self.deciding }) do
    pending:cancel()
  end
  self.reloading = nil
end

---@return superpower.DecisionKey[]
function M:keys()
  local function key(lhs, label, desc, fn)
    return { lhs = lhs, label = label, desc = desc, fn = fn, harmless = lhs ~= "a" }
  end
  return {
    key("a", "approve", "approve: the run continues", function()
      self.decide("approve")
    end),
    key("c", "changes", "request changes, with a comment", function()
      self:comment("changes")
    end),
    key("r", "reject", "reject: the run ends (asks once more)", function()
      self.window:ask("reject: the run ends here", self:reject_keys())
    end),
    key("d", "diff", "diff of the file under the cursor, or the next one", function()
      diff.open(self.run.root, self.run.run_id, self.run.gate.id, self:file_here())
    end),
    key("o", "open", "open the file under the cursor, or the next one", function()
      diff.edit(self.run.root, self:file_here())
    end),
    self:later(),
  }
end

---@return superpower.DecisionKey[]
function M:reject_keys()
  local function back()
    self.window:ask(nil, self:keys())
  end
  return {
    {
      lhs = "y",
      label = "reject",
      desc = "reject the run",
      fn = function()
        self.decide("reject")
      end,
    },
    {
      lhs = "c",
      label = "reject with a comment",
      desc = "reject with a comment",
      harmless = true,
      fn = function()
        self:comment("reject")
      end,
    },
    { lhs = "n", label = "back", desc = "back: nothing is rejected", fn = back, always = true },
    self:later(),
  }
end

--- Rows that all of it would fill.
---@return integer
function M:rows()
  return Page.rows(self.page.lines, float.wide(76) - 1) + 1
end

--- Requests the list again, and shows it.
---@param changed? string[] files that an approval found changed
function M:reload(changed)
  if self.reloading and not changed then
    return
  elseif self.reloading then
    self.reloading:cancel()
  end
  self.reloading = review_request.review(self.run, function(review, fault)
    self.reloading = nil
    if review and self:alive() then
      shown.remember(self.run, review)
      self:renew(review, changed)
    elseif fault and changed then
      notify.engine_error(fault)
    end
  end)
end

function M:paint()
  self.window:paint(self.page.lines)
  if self.page.fences then
    markdown.colour(self.window.float.buf, self.page.fences, self.page.report)
  end
end

--- Shows another list. Its keys count after a quiet moment only, as when it was opened.
---@param review superpower.Review
---@param changed? string[] files that had changed since the list before this one was shown, as it was approved
function M:renew(review, changed)
  if not self:alive() or (review.review == self.review.review and not changed) then
    return
  end
  local win = self.window.float.win
  self.review = review
  self.page = page.page(review, self.run, float.wide(76) - 2, changed)
  local at = vim.api.nvim_win_get_cursor(win)
  vim.api.nvim_buf_clear_namespace(self.window.float.buf, -1, 0, -1)
  self:paint()
  self.window:place(self:rows())
  local row = changed and 1 or math.min(at[1], vim.api.nvim_buf_line_count(self.window.float.buf))
  vim.api.nvim_win_set_cursor(win, { row, 0 })
  self.window:ask(nil, self:keys())
end

--- Opens it on the gate that `run` waits at.
---@param run superpower.Snapshot
---@param review superpower.Review
---@param decide fun(this: superpower.GateWindow, decision: string, comment: string?, done?: fun(err: string?))
---@param closed fun(this: superpower.GateWindow)
---@param enter boolean with the cursor inside
---@return superpower.GateWindow
function M.open(run, review, decide, closed, enter)
  local width = float.wide(76)
  local self = setmetatable({ run = run, review = review }, M) --[[@as superpower.GateWindow]]
  self.page = page.page(review, run, width - 2)
  self.decide = function(decision, comment, done)
    decide(self, decision, comment, done)
  end
  local at = ("gate · stage %d/%d"):format(run.gate.stage, run.total)
  local title = text.cut(text.line(review.label or run.gate.label), width - text.width(at) - 6)
  self.window = Decision.open({
    filetype = "superpower-gate",
    title = { { " " .. title .. " ", "SuperpowerTitle" } },
    right = { { " " .. at .. " ", "SuperpowerGate" } },
    help = "Approval",
    width = 76,
    height = self:rows(),
    enter = enter,
    keys = self:keys(),
    closed = function()
      self:cancel_requests()
      closed(self)
    end,
  })
  self:paint()
  vim.api.nvim_create_autocmd("WinEnter", {
    buffer = self.window.float.buf,
    callback = function()
      if self:alive() then
        self:reload()
      end
    end,
  })
  if self.page.first_file and self.page.first_file <= vim.api.nvim_win_get_height(self.window.float.win) then
    vim.api.nvim_win_set_cursor(self.window.float.win, { self.page.first_file, 0 })
  end
  return self
end

return M
