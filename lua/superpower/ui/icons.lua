--- The icon of each state, its colour, and the spinner.
local M = {}

---@type table<string, string>
M.groups = {
  waiting = "SuperpowerWaiting",
  running = "SuperpowerRunning",
  passed = "SuperpowerPassed",
  approved = "SuperpowerPassed",
  skipped = "SuperpowerSkipped",
  failed = "SuperpowerFailed",
  gate = "SuperpowerGate",
  limited = "SuperpowerGate",
  held = "SuperpowerGate",
  ["by-hand"] = "SuperpowerGate",
}

local sets = {
  unicode = {
    waiting = "·",
    passed = "✓",
    approved = "✓",
    skipped = "–",
    failed = "✗",
    gate = "●",
    limited = "◷",
    held = "●",
    ["by-hand"] = "●",
    open = "▸",
    spinner = { "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏" },
  },
  nerd = {
    waiting = "\u{f10c}",
    passed = "\u{f00c}",
    approved = "\u{f164}",
    skipped = "\u{f051}",
    failed = "\u{f00d}",
    gate = "\u{f256}",
    limited = "\u{f017}",
    held = "\u{f04c}",
    ["by-hand"] = "\u{f256}",
    open = "\u{f0da}",
    spinner = { "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏" },
  },
  ascii = {
    waiting = ".",
    passed = "v",
    approved = "v",
    skipped = "-",
    failed = "x",
    gate = "*",
    limited = "~",
    held = "*",
    ["by-hand"] = "*",
    open = ">",
    spinner = { "|", "/", "-", "\\" },
  },
}

---@param icons "unicode"|"nerd"|"ascii"
---@param mark string the state, as in `superpower.Stage`
---@param now integer milliseconds, for the spinner
---@return string text, string group
function M.icon(icons, mark, now)
  local set = sets[icons] or sets.unicode
  local group = M.groups[mark] or "SuperpowerWaiting"
  if mark == "running" then
    return set.spinner[math.floor(now / 100) % #set.spinner + 1], group
  end
  return set[mark] or set.waiting, group
end

return M
