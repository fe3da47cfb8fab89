--- Sends a long text to the engine in parts, one per turn of the main loop, so that typing is not delayed.
local text = require("superpower.lsp.text")
local session = require("superpower.session")

local M = {}

--- The maximum number of lines of a part, and its average number of bytes. Lines are not split.
local LINES, BYTES = 8000, 128 * 1024
--- The time between two parts, in milliseconds: keys come first.
local BETWEEN = 1

local newest = {} ---@type table<integer, table> by buffer: what is being sent

---@param op string
---@param fields table
---@return any answer, superpower.Error? err
function M.call(op, fields)
  local call = session.call
  local answer, err = call(op, fields)
  if err and err.code == "bad-request" then
    fields.text, fields.encoding = text.readable(fields.text), fields.encoding or "bytes that are no characters"
    answer, err = call(op, fields)
  end
  return answer, err
end

--- Sends `fields` with the text of a buffer, and gives the answer to `done`. There is no answer if the text has
--- changed meanwhile.
---@param buf integer
---@param fields table
---@param done fun(answer: any, err: superpower.Error?)
function M.send(buf, fields, done)
  local line, count = 0, vim.api.nvim_buf_line_count(buf)
  local lines = math.ceil(BYTES * count / math.max(1, text.size(buf)))
  lines = math.max(1, math.min(LINES, lines))
  newest[buf] = fields
  local function part()
    local outdated = newest[buf] ~= fields or not vim.api.nvim_buf_is_loaded(buf)
    if outdated or vim.api.nvim_buf_get_changedtick(buf) ~= fields.tick then
      return
    end
    local last = math.min(line + lines, count)
    fields.text = table.concat(vim.api.nvim_buf_get_lines(buf, line, last, false), "\n") .. "\n"
    fields.first, line = line == 0, last
    if line >= count then
      newest[buf] = nil
      fields.parts, fields.first = not fields.first, nil
      return done(M.call("document", fields))
    end
    local sent = { path = fields.path, tick = fields.tick, text = fields.text, first = fields.first }
    local _, err = M.call("document-part", sent)
    fields.encoding = fields.encoding or sent.encoding
    if err then
      return done(nil, err)
    end
    vim.defer_fn(part, BETWEEN)
  end
  part()
end

return M
