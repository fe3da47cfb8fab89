--- A request for the list of changed files. The engine compares the files on its worker thread, which may take long in
--- a large project, so each request has a number by which the user can cancel it.
local session = require("superpower.session")
local wait_window = require("superpower.gate.wait_window")

local M = {}

local last = 0

---@class superpower.ReviewRequest
---@field number integer how the engine is told which request to cancel
---@field over boolean
local ReviewRequest = {}
ReviewRequest.__index = ReviewRequest

--- Reserves a number, and sends nothing yet.
---@return superpower.ReviewRequest
function M.new()
  last = last + 1
  return setmetatable({ number = last, over = false }, ReviewRequest)
end

--- Cancels the request. The engine still answers, but the answer is ignored.
function ReviewRequest:cancel()
  if not self.over then
    self.over = true
    session.call("give-up-look", { look = self.number })
  end
end

--- Requests the list of files that are under review now. `found` is not called after the request was cancelled.
---@param run { root: string, run_id: string }
---@param found fun(review: superpower.Review?, err: superpower.Fault?)
---@return superpower.ReviewRequest
function M.review(run, found)
  local request = M.new()
  session.ask("review", { root = run.root, run_id = run.run_id, look = request.number }, function(review, err)
    if not request.over then
      request.over = true
      found(review, err)
    end
  end)
  return request
end

--- Does the same for a user who waits: if the answer takes long, a window says so and offers to cancel.
---@param run { root: string, run_id: string }
---@param found fun(review: superpower.Review?, err: superpower.Fault?)
function M.awaited(run, found)
  local waiting ---@type { close: fun() }?
  local request = M.review(run, function(review, err)
    if waiting then
      waiting.close()
    end
    found(review, err)
  end)
  waiting = wait_window.show(request, function()
    request:cancel()
  end)
end

return M
