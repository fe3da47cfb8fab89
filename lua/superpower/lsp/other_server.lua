--- Another language server for YAML in the same buffer. Where it has a schema for the file it offers the keys and the
--- words of that, so ours leaves those to it, and adds what no schema knows: agents, skills, stages, facts, inputs.

local M = {}

--- How long an answer is waited for, and how soon a server that had none is asked again, in milliseconds.
local PATIENCE, AGAIN = 400, 500

local schemas = {} ---@type table<integer, table<integer, true>> by buffer, the clients that have one
local asked = {} ---@type table<integer, table<integer, number>> by buffer, when the clients were asked last

---@param client vim.lsp.Client
---@param buf integer
---@param reply fun(err: any, result: any)
local function ask(client, buf, reply)
  local params = { vim.uri_from_bufnr(buf) }
  if vim.fn.has("nvim-0.11") == 1 then
    client:request("yaml/get/jsonSchema", params, reply, buf)
  else
    client.request("yaml/get/jsonSchema", params, reply, buf)
  end
end

--- Whether a schema is that of superpowers: another one for the same file is of no help.
---@param schema { name?: string, uri?: string }
local function ours(schema)
  return schema.name == "superpower" or (schema.uri or ""):find("superpower", 1, true) ~= nil
end

--- Whether a server in this buffer offers the keys already.
---@param buf integer
---@return boolean
function M.offers_keys(buf)
  for id in pairs(schemas[buf] or {}) do
    if vim.lsp.buf_is_attached(buf, id) then
      return true
    end
  end
  return false
end

--- Asks every other server for YAML in the buffer whether it has a schema for it, and then goes on. One that had none
--- is asked again: it learns of its schemas only a while after it has started.
---@param buf integer
---@param go_on fun()
function M.settle(buf, go_on)
  local now, left, gone = vim.uv.now(), 0, false
  local function finish()
    if not gone then
      gone = true
      go_on()
    end
  end
  schemas[buf], asked[buf] = schemas[buf] or {}, asked[buf] or {}
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf })) do
    local other = client.name ~= "superpower" and client.name:lower():find("yaml")
    if other and not schemas[buf][client.id] and now - (asked[buf][client.id] or -AGAIN) >= AGAIN then
      left, asked[buf][client.id] = left + 1, now
      ask(client, buf, function(err, result)
        local has = not err and type(result) == "table" and vim.iter(result):any(ours)
        if schemas[buf] then
          schemas[buf][client.id] = has or nil
        end
        left = left - 1
        if left == 0 then
          finish()
        end
      end)
    end
  end
  if left == 0 then
    finish()
  else
    vim.defer_fn(finish, PATIENCE)
  end
end

--- Asks now, and again while a server that has come may still learn of its schemas.
---@param buf integer
function M.look(buf)
  for _, ms in ipairs({ 0, 1000, 3000, 10000 }) do
    vim.defer_fn(function()
      if asked[buf] and vim.api.nvim_buf_is_valid(buf) and vim.v.exiting == vim.NIL then
        M.settle(buf, function() end)
      end
    end, ms)
  end
  asked[buf] = asked[buf] or {}
end

---@param buf integer
function M.forget(buf)
  schemas[buf], asked[buf] = nil, nil
end

return M
