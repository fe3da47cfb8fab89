--- Asks the engine for what may take its time: locks, journals, git. The answer comes on the main loop, in the order of
--- asking, and before the events of a run that it sets going. Nobody is answered once the editor is being left.
local engine = require("superpower.engine")

local M = {}

local asked = {} ---@type table<integer, fun(value: any, err: superpower.Error?)> who waits, by the question's number
local last = 0
local listening = false

---@param event { id: integer, answer: { ok: any, err: superpower.Error? } }
local function answered(event)
  local callback = asked[event.id]
  asked[event.id] = nil
  if callback then
    callback(event.answer.ok, event.answer.err)
  end
end

--- `callback` gets what `engine.call` would give.
---@param op string
---@param fields table<string, any>
---@param callback fun(value: any, err: superpower.Error?)
function M.ask(op, fields, callback)
  if not listening then
    listening = true
    engine.on("answered", answered)
  end
  last = last + 1
  local id = last
  asked[id] = callback
  local _, err = engine.call("ask", { id = id, request = vim.tbl_extend("force", fields, { op = op }) })
  if err then
    asked[id] = nil
    callback(nil, err)
  end
end

return M
