-- Screens as text, stored in tests/lua/screens and compared cell by cell. `UPDATE=1` rewrites them.
--
--   Screens.check(nvim, "approval")

local T = require("harness")

local Screens = {}

---@param lines string[]
local function trimmed(lines)
  local out = {}
  for _, line in ipairs(lines) do
    table.insert(out, (line:gsub("%s+$", "")))
  end
  return table.concat(out, "\n") .. "\n"
end

function Screens.check(nvim, name)
  local path = ("%s/tests/lua/screens/%s.txt"):format(T.root, name)
  local screen = trimmed(nvim:screen()):gsub(vim.pesc(nvim.project), "PROJECT")
  local kept = T.read(path)
  if not nvim:lua("return vim.version().major == 0 and vim.version().minor == 11") then
    T.ok(screen:match("%S"), "a smoke: the pictures are of 0.11")
    return
  end
  if vim.env.UPDATE == "1" and kept ~= screen then
    T.write(path, screen)
    return
  end
  T.eq(kept, screen, "the screen " .. name .. " (UPDATE=1 writes it anew)")
end

return Screens
