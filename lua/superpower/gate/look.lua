--- A look at the files that a gate is about. The engine takes it on its worker, and it may take a while: whoever no longer
--- waits gives it up by its number.
local looking = require("superpower.gate.looking")
local session = require("superpower.session")

local M = {}

local last = 0

---@class superpower.Look
---@field number integer what the engine calls it
---@field over boolean
local Look = {}
Look.__index = Look

--- One that nothing has been asked with yet.
---@return superpower.Look
function M.new()
  last = last + 1
  return setmetatable({ number = last, over = false }, Look)
end

--- Nobody waits for it any more. The engine still answers, and nobody hears that.
function Look:give_up()
  if not self.over then
    self.over = true
    session.call("give-up-look", { look = self.number })
  end
end

--- Asks what is under review now. `found` is not called once the look was given up.
---@param run { root: string, run_id: string }
---@param found fun(review: superpower.Review?, err: superpower.Fault?)
---@return superpower.Look
function M.review(run, found)
  local look = M.new()
  session.ask("review", { root = run.root, run_id = run.run_id, look = look.number }, function(review, err)
    if not look.over then
      look.over = true
      found(review, err)
    end
  end)
  return look
end

--- The same for somebody who waits for it, and is shown so where it takes its time.
---@param run { root: string, run_id: string }
---@param found fun(review: superpower.Review?, err: superpower.Fault?)
function M.awaited(run, found)
  local waiting ---@type { close: fun() }?
  local look = M.review(run, function(review, err)
    if waiting then
      waiting.close()
    end
    found(review, err)
  end)
  waiting = looking.wait(look, function()
    look:give_up()
  end)
end

return M
