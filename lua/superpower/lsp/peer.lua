--- Another language server for YAML in the same buffer. Where it has a schema for the file it offers the keys and the
--- words of that, so ours leaves those to it, and adds what no schema knows: agents, skills, stages, facts, inputs.

local M = {}

local schemas = {} ---@type table<integer, table<integer, true>> by buffer, the clients that have one

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

--- Asks every other server for YAML in the buffer whether it has a schema for it.
---@param buf integer
function M.look(buf)
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf })) do
    if client.name ~= "superpower" and client.name:lower():find("yaml") then
      ask(client, buf, function(err, result)
        schemas[buf] = schemas[buf] or {}
        local has = not err and type(result) == "table" and #result > 0
        schemas[buf][client.id] = has or nil
      end)
    end
  end
end

---@param buf integer
function M.forget(buf)
  schemas[buf] = nil
end

return M
