--- Detects another YAML language server in the same buffer. If it has a schema for the file, it offers the keys and
--- values of that schema. Our server then leaves those out, and adds what no schema knows: agents, skills, stages,
--- facts, inputs.

local M = {}

--- The time to wait for an answer, and before a server without a schema is asked again, in milliseconds.
local MAX_WAIT, RETRY_AFTER = 400, 500

local schemas = {} ---@type table<integer, table<integer, true>> by buffer: the clients that have a schema
local asked = {} ---@type table<integer, table<integer, number>> by buffer: when each client was last asked

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

--- Whether a schema is the one of superpowers. Another schema for the same file does not help.
---@param schema { name?: string, uri?: string }
local function ours(schema)
  return schema.name == "superpower" or (schema.uri or ""):find("superpower", 1, true) ~= nil
end

--- Whether another server in this buffer offers the keys already.
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

--- Asks every other YAML server in the buffer whether it has a schema for it, then calls back. A server without one is
--- asked again later, since it learns its schemas only some time after its start.
---@param buf integer
---@param callback fun()
function M.query(buf, callback)
  local now, left, called = vim.uv.now(), 0, false
  local function finish()
    if not called then
      called = true
      callback()
    end
  end
  schemas[buf], asked[buf] = schemas[buf] or {}, asked[buf] or {}
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf })) do
    local other = client.name ~= "superpower" and client.name:lower():find("yaml")
    if other and not schemas[buf][client.id] and now - (asked[buf][client.id] or -RETRY_AFTER) >= RETRY_AFTER then
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
    vim.defer_fn(finish, MAX_WAIT)
  end
end

--- Asks now, and again while a new server may still learn its schemas.
---@param buf integer
function M.watch(buf)
  for _, ms in ipairs({ 0, 1000, 3000, 10000 }) do
    vim.defer_fn(function()
      if asked[buf] and vim.api.nvim_buf_is_valid(buf) and vim.v.exiting == vim.NIL then
        M.query(buf, function() end)
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
