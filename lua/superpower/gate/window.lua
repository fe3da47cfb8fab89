--- The approval window: the question, the report, the changes, and the keys that answer. It belongs to one gate of one
--- run for its whole life.
local text = require("superpower.base.text")
local actions = require("superpower.editor.actions")
local diff = require("superpower.gate.diff")
local page = require("superpower.gate.page")
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
---@field deciding boolean
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
      self.window:close()
    end,
  }
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

--- Opens the window for the gate that `run` waits at.
---@param run superpower.Snapshot
---@param review superpower.Review
---@param decide fun(this: superpower.GateWindow, decision: string, comment: string?, done?: fun(err: string?))
---@param closed fun(this: superpower.GateWindow)
---@param enter boolean with the cursor inside
---@return superpower.GateWindow
function M.open(run, review, decide, closed, enter)
  local width = float.wide(76)
  local self = setmetatable({ run = run, review = review, deciding = false }, M) --[[@as superpower.GateWindow]]
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
    height = Page.rows(self.page.lines, width - 1) + 1,
    enter = enter,
    keys = self:keys(),
    closed = function()
      closed(self)
    end,
  })
  self.window:paint(self.page.lines)
  if self.page.fences then
    markdown.colour(self.window.float.buf, self.page.fences, self.page.report)
  end
  if self.page.first_file and self.page.first_file <= vim.api.nvim_win_get_height(self.window.float.win) then
    vim.api.nvim_win_set_cursor(self.window.float.win, { self.page.first_file, 0 })
  end
  return self
end

return M
