--- Parses the raw argument text of `:Superpower`. Values with spaces are quoted; a bar is an ordinary character.
local M = {}

--- Splits at spaces outside quotes. A word may contain quotes anywhere. Inside double quotes, `\"` and `\\` are
--- escapes.
---@param raw string
---@return string[]? words, string? err
function M.words(raw)
  local words = {}
  local word, quote ---@type string?, string?
  local index = 1
  while index <= #raw do
    local char = raw:sub(index, index)
    if quote then
      local after = raw:sub(index + 1, index + 1)
      if quote == '"' and char == "\\" and (after == '"' or after == "\\") then
        word, index = word .. after, index + 1
      elseif char == quote then
        quote = nil
      else
        word = word .. char
      end
    elseif char == '"' or char == "'" and (word == nil or word:sub(-1) == "=") then
      word, quote = word or "", char
    elseif char:match("%s") then
      if word then
        table.insert(words, word)
        word = nil
      end
    else
      word = (word or "") .. char
    end
    index = index + 1
  end
  if quote then
    return nil, ("unclosed quote: %s"):format(quote)
  end
  if word then
    table.insert(words, word)
  end
  return words
end

--- Returns the first word and the rest of the text, unchanged.
---@param raw string
---@return string first, string rest
function M.first(raw)
  local first, rest = raw:match("^%s*(%S+)%s*(.-)%s*$")
  return first or "", rest or ""
end

--- Parses `key=value` words into a table.
---@param words string[]
---@return table<string, string>? values, string? err
function M.pairs(words)
  local out = {}
  for _, word in ipairs(words) do
    local key, value = word:match("^([%w_-]+)=(.*)$")
    if not key then
      return nil, ('expected key=value, got "%s"; quote a value with spaces: key="two words"'):format(word)
    end
    if out[key] ~= nil then
      return nil, ('"%s" is given twice'):format(key)
    end
    out[key] = value
  end
  return out
end

--- Returns a comment as it was typed, without the quotes around all of it.
---@param rest string
---@return string
function M.comment(rest)
  local words = M.words(rest)
  local quoted = rest:match("^([\"']).*%1$")
  if quoted and words and #words == 1 then
    return words[1]
  end
  return rest
end

--- Splits a leading `run=ID` off a text. A comment that starts with it has to be quoted.
---@param rest string
---@return string? run_id, string rest, string? err
function M.run(rest)
  local run_id, after = rest:match("^run=(%S*)%s*(.*)$")
  if run_id == "" then
    return nil,
      rest,
      'run= needs a run id or its first characters (see :Superpower runs); quote a comment that starts with "run="'
  end
  return run_id, after or rest
end

--- Splits a leading `review=…` off a text: the list of changes that a decision is for.
---@param rest string
---@return string? review, string rest
function M.review(rest)
  local review, after = rest:match("^review=(%x+)%s*(.*)$")
  return review, after or rest
end

--- Splits a leading `answer=…` off a text.
---@param rest string
---@return string? answer, string rest
function M.answer(rest)
  local answer, after = rest:match("^answer=(%S*)%s*(.*)$")
  return answer, after or rest
end

return M
