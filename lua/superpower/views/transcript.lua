--- Renders an agent's raw output for reading: the events of Claude Code and OpenCode become text, tool calls and
--- results. Other lines stay as they are. Pure.
local M = {}

---@param value any
---@return string
local function one_line(value)
  if type(value) == "table" then
    for _, key in ipairs({
      "command",
      "file_path",
      "filePath",
      "path",
      "pattern",
      "query",
      "url",
      "description",
      "prompt",
    }) do
      if type(value[key]) == "string" then
        return value[key]
      end
    end
    local fine, text = pcall(vim.json.encode, value)
    return fine and text or ""
  end
  return tostring(value or "")
end

---@param out string[]
---@param mark string
---@param said string
---@param most? integer lines
local function add(out, mark, said, most)
  local lines = vim.split(vim.trim(said), "\n", { plain = true })
  for index, line in ipairs(lines) do
    if most and index > most then
      table.insert(out, ("  … %d more lines"):format(#lines - most))
      return
    end
    table.insert(out, (index == 1 and mark or (" "):rep(vim.api.nvim_strwidth(mark))) .. line)
  end
end

---@param content any
---@return string
local function result_text(content)
  if type(content) == "string" then
    return content
  end
  local parts = {}
  for _, part in ipairs(type(content) == "table" and content or {}) do
    if type(part) == "table" and type(part.text) == "string" then
      table.insert(parts, part.text)
    end
  end
  return table.concat(parts, "\n")
end

---@type table<string, fun(event: table, out: string[])>
local kinds = {}

function kinds.system(event, out)
  if event.subtype == "init" then
    add(out, "· ", ("session %s, %s"):format(event.session_id or "?", event.model or "?"))
  elseif event.subtype == "api_retry" then
    add(out, "· ", ("retrying: %s"):format(one_line(event.error or event.message)))
  end
end

function kinds.assistant(event, out)
  for _, part in ipairs(event.message and event.message.content or {}) do
    if part.type == "text" then
      table.insert(out, "")
      add(out, "", part.text or "")
    elseif part.type == "tool_use" then
      add(out, "▸ ", ("%s  %s"):format(part.name or "?", one_line(part.input)), 3)
    end
  end
end

function kinds.user(event, out)
  local content = event.message and event.message.content
  for _, part in ipairs(type(content) == "table" and content or {}) do
    if type(part) == "table" and part.type == "tool_result" then
      add(out, part.is_error and "  ✗ " or "    ", result_text(part.content), 6)
    end
  end
end

function kinds.result(event, out)
  table.insert(out, "")
  local word = event.is_error and "ended with an error" or "ended"
  add(out, "■ ", ("%s: %s"):format(word, event.subtype or "?"))
  if type(event.result) == "string" and event.result ~= "" then
    add(out, "", event.result)
  end
end

function kinds.text(event, out)
  if event.part and type(event.part.text) == "string" then
    table.insert(out, "")
    add(out, "", event.part.text)
  end
end

function kinds.tool_use(event, out)
  local part = event.part or {}
  local state = part.state or {}
  add(out, "▸ ", ("%s  %s"):format(part.tool or "?", one_line(state.input)), 3)
  if type(state.output) == "string" and state.output ~= "" then
    add(out, state.status == "error" and "  ✗ " or "    ", state.output, 6)
  end
end

function kinds.error(event, out)
  local error = event.error
  local data = type(error) == "table" and type(error.data) == "table" and error.data.message
  add(out, "✗ ", data or one_line(type(error) == "table" and (error.message or error.name or error) or error))
end

--- Events that a reader does not need.
local silent = {
  step_start = true,
  step_finish = true,
  stream_event = true,
  control_request = true,
  control_response = true,
  control_cancel_request = true,
  rate_limit_event = true,
}

--- Renders raw lines. Also returns whether any of them was an event.
---@param raw string[]
---@return string[] lines, boolean any
function M.render(raw)
  local out, any = {}, false
  for _, line in ipairs(raw) do
    local event = nil
    if line:sub(1, 1) == "{" then
      local fine, decoded = pcall(vim.json.decode, line, { luanil = { object = true, array = true } })
      event = fine and type(decoded) == "table" and type(decoded.type) == "string" and decoded or nil
    end
    local kind = event and kinds[event.type]
    if kind then
      any = true
      local before = #out
      if not pcall(kind, event, out) then
        while #out > before do
          table.remove(out)
        end
        table.insert(out, line)
      end
    elseif event and silent[event.type] then
      any = true
    else
      table.insert(out, line)
    end
  end
  while out[1] == "" do
    table.remove(out, 1)
  end
  return out, any
end

return M
