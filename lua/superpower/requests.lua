--- Asks the engine for what may take time: locks, journals, git. The answers come on the main loop, in the order of
--- the requests, and before the events of a run that they start. There are no answers once the editor is left.
local engine = require("superpower.engine")

local M = {}

local callbacks = {} ---@type table<integer, fun(value: any, err: superpower.Error?)> by request id
local last = 0
local listening = false

---@param event { id: integer, answer: { ok: any, err: superpower.Error? } }
local function answered(event)
  local callback = callbacks[event.id]
  callbacks[event.id] = nil
  if callback then
    callback(event.answer.ok, event.answer.err)
  end
end

--- `callback` gets what `engine.call` would return.
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
  callbacks[id] = callback
  local _, err = engine.call("ask", { id = id, request = vim.tbl_extend("force", fields, { op = op }) })
  if err then
    callbacks[id] = nil
    callback(nil, err)
  end
end

return M
