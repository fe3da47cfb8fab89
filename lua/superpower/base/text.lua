--- Prepares text from agents for display: shows control characters instead of sending them, and cuts text to its
--- width.
local hidden = require("superpower.base.hidden")

local M = {}

--- Returns the length of the well-formed UTF-8 sequence that starts at `at`, or 0.
---@param text string
---@param at integer
---@return integer
local function sequence(text, at)
  local a, b, c, d = text:byte(at, at + 3)
  local function rest(byte)
    return byte ~= nil and byte >= 0x80 and byte <= 0xBF
  end
  if a >= 0xC2 and a <= 0xDF and rest(b) then
    return 2
  elseif a >= 0xE0 and a <= 0xEF and rest(b) and rest(c) then
    return 3
  elseif a >= 0xF0 and a <= 0xF4 and rest(b) and rest(c) and rest(d) then
    return 4
  end
  return 0
end

--- Shows bytes that are not UTF-8 as `<xx>`.
---@param text string
---@return string
local function well_formed(text)
  local at = text:find("[\128-\255]")
  if not at then
    return text
  end
  local out, from = {}, 1
  while at do
    local bytes = sequence(text, at)
    if bytes == 0 then
      table.insert(out, text:sub(from, at - 1))
      table.insert(out, ("<%02x>"):format(text:byte(at)))
      from, bytes = at + 1, 1
    end
    at = text:find("[\128-\255]", at + bytes)
  end
  table.insert(out, text:sub(from))
  return table.concat(out)
end

--- Returns the first bytes (all but the last one) of every character that may have to be shown.
---@return table<string, true>
local function suspects()
  local found = {}
  for _, range in ipairs(hidden.hidden) do
    -- 64 consecutive characters share their first bytes.
    for code = range[1], range[2] + 63, 64 do
      found[vim.fn.nr2char(math.min(code, range[2]), true):sub(1, -2)] = true
    end
  end
  return found
end

---@param code integer
---@param before integer?
---@return boolean
local function is_shown(code, before)
  for _, range in ipairs(hidden.hidden) do
    if code >= range[1] and code <= range[2] then
      for _, allowed in ipairs(before and hidden.allowed or {}) do
        if code >= allowed[1] and code <= allowed[2] and before >= allowed[3] and before <= allowed[4] then
          return false
        end
      end
      return true
    end
  end
  return false
end

local suspicious

--- Shows invisible characters as `<xxxx>`.
---@param text string well-formed
---@return string
local function unhidden(text)
  suspicious = suspicious or suspects()
  local before
  local out = text:gsub("[%z\1-\127\194-\244][\128-\191]*", function(char)
    local suspect = suspicious[char:sub(1, -2)]
    local code = suspect and vim.fn.char2nr(char, true)
    if code and is_shown(code, before and vim.fn.char2nr(before, true)) then
      before = nil
      return ("<%04x>"):format(code)
    end
    before = char
  end)
  return out
end

--- Shows control characters, and all characters that hide or change what is read. A character that is part of how an
--- emoji or a word is written stays: see `superpower.base.hidden`.
---@param text string
---@return string
function M.visible(text)
  if not text:find("[%z\1-\31\127-\255]") then
    return text
  end
  text = well_formed(text)
  if text:find("[\194\205\216\225-\227\239-\243]") then
    text = unhidden(text)
  end
  return (
    text:gsub("[%z\1-\31\127]", function(char)
      local byte = char:byte()
      return byte == 127 and "^?" or "^" .. string.char(byte + 64)
    end)
  )
end

--- Returns the first string of a JSON text that is not UTF-8, made visible, or nil.
---@param json string
---@return string?
function M.odd(json)
  local at = json:find("[\128-\255]")
  while at do
    local bytes = sequence(json, at)
    if bytes == 0 then
      local head, tail = json:sub(1, at - 1):match('[^"]*$'), json:match('^[^"]*', at)
      return M.visible((head .. tail):gsub("\\/", "/"):gsub("\\.", " ") .. "")
    end
    at = json:find("[\128-\255]", at + bytes)
  end
end

--- Returns the text as one line.
---@param text string
---@return string
function M.line(text)
  return M.visible((text:gsub("%s*[\r\n]+%s*", " "):gsub("\t", " ")))
end

--- Returns the text as lines, with tabs expanded.
---@param text string
---@return string[]
function M.lines(text)
  local out = {}
  for _, line in ipairs(vim.split(text:gsub("\r\n", "\n"), "\n", { plain = true })) do
    table.insert(out, M.visible((line:gsub("\t", "    "))))
  end
  while #out > 0 and out[#out]:match("^%s*$") do
    table.remove(out)
  end
  return out
end

M.width = vim.api.nvim_strwidth

--- Cuts the text to at most `width` cells, at a word if one is near the end, and adds an ellipsis.
---@param text string
---@param width integer
---@return string
function M.cut(text, width)
  if M.width(text) <= width then
    return text
  end
  if width <= 1 then
    return width == 1 and "…" or ""
  end
  local out, used = {}, 0
  for char in text:gmatch("[%z\1-\127\194-\244][\128-\191]*") do
    local cells = #char == 1 and 1 or M.width(char)
    if used + cells > width - 1 then
      break
    end
    used = used + cells
    table.insert(out, char)
  end
  local kept = table.concat(out)
  local word = kept:match("^(.*%S)%s+%S*$")
  if word and M.width(word) + 2 <= width and M.width(word) >= width * 0.6 then
    return word .. " …"
  end
  return kept .. "…"
end

--- Cuts a path to at most `width` cells. Its end is kept, since the file name matters most.
---@param path string
---@param width integer
---@return string
function M.path(path, width)
  if M.width(path) <= width then
    return path
  end
  local chars = vim.fn.strcharlen(path)
  for from = 1, chars - 1 do
    local rest = vim.fn.strcharpart(path, from)
    if M.width(rest) < width then
      return "…" .. rest
    end
  end
  return M.cut(path, width)
end

--- Pads or cuts the text to exactly `width` cells, left-aligned.
---@param text string
---@param width integer
---@return string
function M.fit(text, width)
  text = M.cut(text, width)
  return text .. (" "):rep(width - M.width(text))
end

--- Pads or cuts the text to exactly `width` cells, right-aligned.
---@param text string
---@param width integer
---@return string
function M.right(text, width)
  text = M.cut(text, width)
  return (" "):rep(width - M.width(text)) .. text
end

--- Wraps the text at words.
---@param text string
---@param width integer
---@return string[]
function M.wrap(text, width)
  local out, line = {}, ""
  for word in text:gmatch("%S+") do
    while M.width(word) > width do
      if line ~= "" then
        table.insert(out, line)
        line = ""
      end
      local head, cells = "", 0
      for char in word:gmatch("[%z\1-\127\194-\244][\128-\191]*") do
        cells = cells + M.width(char)
        if cells > width then
          break
        end
        head = head .. char
      end
      if head == "" then
        return out
      end
      table.insert(out, head)
      word = word:sub(#head + 1)
    end
    if line == "" then
      line = word
    elseif M.width(line) + 1 + M.width(word) <= width then
      line = line .. " " .. word
    else
      table.insert(out, line)
      line = word
    end
  end
  if line ~= "" then
    table.insert(out, line)
  end
  return out
end

--- Formats a duration: `0:07`, `12:41`, `1:02:03`.
---@param ms integer?
---@return string
function M.clock(ms)
  if not ms or ms < 0 then
    return ""
  end
  local seconds = math.floor(ms / 1000)
  local hours, minutes = math.floor(seconds / 3600), math.floor(seconds / 60) % 60
  if hours > 0 then
    return ("%d:%02d:%02d"):format(hours, minutes, seconds % 60)
  end
  return ("%d:%02d"):format(minutes, seconds % 60)
end

--- Formats an age: `12s`, `3m`, `2h`, `5 days`.
---@param ms integer
---@return string
function M.age(ms)
  local seconds = math.max(0, math.floor(ms / 1000))
  if seconds < 60 then
    return seconds .. "s"
  elseif seconds < 3600 then
    return math.floor(seconds / 60) .. "m"
  elseif seconds < 48 * 3600 then
    return math.floor(seconds / 3600) .. "h"
  end
  return math.floor(seconds / 86400) .. " days"
end

return M
