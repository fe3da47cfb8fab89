--- Suggests the known word that is closest to a mistyped one.
local M = {}

---@param a string
---@param b string
---@return integer
local function distance(a, b)
  local older, before = {}, {} ---@type integer[], integer[]
  for j = 0, #b do
    before[j] = j
  end
  for i = 1, #a do
    local row = { [0] = i }
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      row[j] = math.min(before[j] + 1, row[j - 1] + 1, before[j - 1] + cost)
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        row[j] = math.min(row[j], older[j - 2] + 1) -- two swapped letters
      end
    end
    older, before = before, row
  end
  return before[#b]
end

--- Sorts the known words by distance. With `near`, only those that a typing mistake can explain are kept.
---@param word string
---@param known string[]
---@param near? boolean
---@return string[]
function M.sorted(word, known, near)
  local scored = {} ---@type { word: string, score: integer }[]
  for _, other in ipairs(known) do
    local score = distance(word:lower(), other:lower())
    if #word > 0 and vim.startswith(other, word) then
      score = math.min(score, 1)
    end
    if not near or score <= math.max(1, math.floor(math.max(#word, #other) / 3)) then
      table.insert(scored, { word = other, score = score })
    end
  end
  table.sort(scored, function(a, b)
    return a.score < b.score or (a.score == b.score and a.word < b.word)
  end)
  return vim.tbl_map(function(entry)
    return entry.word
  end, scored)
end

--- Returns `(did you mean "x"?)`, or "" if no known word is close.
---@param word string
---@param known string[]
---@return string
function M.hint(word, known)
  local best = M.sorted(word, known, true)[1]
  return best and (' (did you mean "%s"?)'):format(best) or ""
end

return M
