--- The gate that this editor last showed, and the list of changes that it showed there: what a typed decision is for.
local M = {}

---@class superpower.GateShown
---@field root string
---@field run_id string
---@field gate string
---@field review? string what the list is called
---@field trust? string the digest of what it showed as changed since it was trusted

local shown ---@type superpower.GateShown?

---@return superpower.GateShown?
function M.get()
  return shown
end

---@param run superpower.Snapshot
---@param review superpower.Review
function M.remember(run, review)
  local trust = review.trust and review.trust.digest or nil
  shown = { root = run.root, run_id = run.run_id, gate = run.gate.id, review = review.review, trust = trust }
end

return M
