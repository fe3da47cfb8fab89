--- The user's own functions, called for the engine: facts of conditions, and prompts.
local config = require("superpower.config")
local session = require("superpower.session")

local M = {}

--- Sends an answer to the engine. If it cannot be sent, the error is sent instead: otherwise the engine would wait for
--- ever.
---@param reply { id: any, value: any, error: string? }
local function send(reply)
  local _, err = session.call("answer", reply)
  if err then
    session.call("answer", { id = reply.id, error = err.message })
  end
end

--- Evaluates a user's fact for the engine.
---@param event { id: integer, name: string, ctx: superpower.FactContext }
function M.fact(event)
  local fn = config.get().conditions[event.name]
  local reply = { id = event.id } ---@type table<string, any>
  if not fn then
    reply.error = ('no condition "%s" is registered in vim.g.superpower.conditions'):format(event.name)
  else
    local ok, value, reason = pcall(fn, event.ctx)
    if ok and type(value) == "boolean" then
      reply.value = { value = value, reason = reason ~= nil and tostring(reason) or nil }
    elseif ok then
      -- Not converted to a boolean: a missing `return` would be false, and the 0 of a Vim function true.
      reply.error = ('the condition "%s" returned %s, not true or false'):format(event.name, vim.inspect(value))
    else
      reply.error = ('the condition "%s" failed: %s'):format(event.name, value)
    end
  end
  send(reply)
end

--- No agent accepts more, and it would block the main loop.
local max_prompt = 4 * 1048576

--- Calls the user's function that replaces a stage's prompt.
---@param event { id: string, prompt: string, ctx: superpower.PromptContext }
function M.prompt(event)
  local fn = config.get().prompt
  local reply = { id = event.id } ---@type table<string, any>
  if not fn then
    reply.value = { prompt = event.prompt }
  else
    local ok, text = pcall(fn, event.prompt, event.ctx)
    if ok and type(text) == "string" and #text > max_prompt then
      reply.error = ("it returned %d MiB; the limit is %d MiB"):format(math.ceil(#text / 1048576), max_prompt / 1048576)
    elseif ok and type(text) == "string" then
      reply.value = { prompt = text }
    else
      reply.error = ok and ("it returned a %s, not a string"):format(type(text)) or tostring(text)
    end
  end
  send(reply)
end

return M
