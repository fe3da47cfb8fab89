--- Notifications that a terminal shows: the control sequences OSC 9, OSC 99 (kitty) and OSC 777 (urxvt). Nothing here is
--- sent.
local text = require("superpower.base.text")

local M = {}

---@alias superpower.Osc "osc-9"|"osc-99"|"osc-777"

--- The longest title and text, in cells.
local TITLE, BODY = 80, 240

--- Terminals by the beginning of `$TERM` or by `$TERM_PROGRAM`, where they know another sequence than OSC 9.
local TERMS = {
  ["xterm-kitty"] = "osc-99",
  ["rxvt"] = "osc-777",
  ["foot"] = "osc-777",
  ["xterm-ghostty"] = "osc-777",
  ["contour"] = "osc-777",
  ["wezterm"] = "osc-777",
}

--- Variables that a terminal sets; they are seen in tmux too, which has a `$TERM` of its own.
local VARIABLES = {
  { "KITTY_WINDOW_ID", "osc-99" },
  { "WEZTERM_PANE", "osc-777" },
  { "GHOSTTY_RESOURCES_DIR", "osc-777" },
  { "VTE_VERSION", "osc-777" },
}

--- The sequence that a terminal probably knows. Only one is sent, since some terminals know several.
---@param term? string
---@param env table<string, string?>
---@return superpower.Osc
function M.guess(term, env)
  for start, protocol in pairs(TERMS) do
    if vim.startswith(term or env.TERM or "", start) then
      return protocol
    end
  end
  for _, variable in ipairs(VARIABLES) do
    if (env[variable[1]] or "") ~= "" then
      return variable[2]
    end
  end
  return "osc-9"
end

--- A text that cannot end a sequence: one line without control bytes.
---@param value any
---@param most integer
---@return string
local function safe(value, most)
  return text.cut(text.line(tostring(value or "")), most)
end

--- The bytes that show a notification. tmux passes a sequence on to its terminal if it is wrapped, its escapes doubled.
---@param protocol superpower.Osc
---@param title string
---@param body string
---@param tmux boolean
---@return string
function M.notification(protocol, title, body, tmux)
  title, body = safe(title, TITLE), safe(body, BODY)
  local parts ---@type string[]
  if protocol == "osc-99" then
    parts = { "99;i=superpower:d=0;" .. title, "99;i=superpower:d=1:p=body;" .. body }
  elseif protocol == "osc-777" then
    parts = { ("777;notify;%s;%s"):format(title:gsub(";", ","), body) }
  else
    -- A number and a semicolon at the beginning would be a command to some terminals.
    parts = { ("9;%s: %s"):format(title:gsub("^%d", " %0"), body) }
  end
  return vim
    .iter(parts)
    :map(function(part)
      local sequence = "\27]" .. part .. "\27\\"
      return tmux and "\27Ptmux;" .. sequence:gsub("\27", "\27\27") .. "\27\\" or sequence
    end)
    :join("")
end

return M
