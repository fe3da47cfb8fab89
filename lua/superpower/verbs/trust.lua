--- Shows what a run will do, and asks for trust before it starts. The engine keeps the answer and notices changed
--- files. The window is a decision like a gate: no stray key trusts anything, and closing it starts nothing.
local text = require("superpower.base.text")
local actions = require("superpower.editor.actions")
local notify = require("superpower.notify")
local session = require("superpower.session")
local decision = require("superpower.ui.decision")
local float = require("superpower.ui.float")
local page = require("superpower.ui.page")
local trust_sheet = require("superpower.verbs.trust_sheet")

local M = {}

---@param sheet superpower.Sheet
---@param data { changed?: boolean }
---@return string
local function state_of(sheet, data)
  if sheet.claim then
    return "not started by you"
  elseif data.changed then
    return "changed since you trusted it"
  end
  return sheet.older and "trusted in an older form" or "not yet trusted"
end

---@param root string
---@param name string?
---@param data { digest?: string, changed?: boolean, sheet?: superpower.Sheet, answer?: string }
---@param done superpower.Answered
function M.ask(root, name, data, done)
  local sheet = data.sheet or { superpower = name or "?" }
  local width = float.wide(90)
  local lines, files = trust_sheet.lines(sheet, width - 2)
  table.insert(lines, { { "" } })
  for _, line in
    ipairs(
      text.wrap("Its agents act with your rights. You are asked again when one of these files changes.", width - 2)
    )
  do
    table.insert(lines, { { line, "SuperpowerNote" } })
  end
  local answered = false
  local window ---@type superpower.Decision
  local function answer(trusted)
    if answered then
      return
    end
    answered = true
    window:close()
    if not trusted then
      return done(nil)
    end
    local granted = { root = root, name = sheet.superpower or name, digest = data.digest }
    session.ask("trust-grant", granted, function(_, err)
      if err then
        notify.engine_error(err)
        return done(nil)
      end
      -- What a file claims about a run needs its own answer, since it is not part of what is trusted.
      done({ answer = data.answer == "adopt" and "adopt" or nil })
    end)
  end
  local title = ("%s%s"):format(sheet.superpower or name or "?", sheet.version and " " .. sheet.version or "")
  window = decision.open({
    filetype = "superpower-trust",
    title = { { " " .. text.cut(text.line(title), 40) .. ": what it will do ", "SuperpowerTitle" } },
    right = { { (" %s "):format(state_of(sheet, data)), "SuperpowerGate" } },
    help = "Trust",
    width = 90,
    height = page.rows(lines, width - 1),
    enter = true,
    keys = {
      {
        lhs = "t",
        label = "trust and continue",
        desc = "trust these files and continue",
        fn = function()
          answer(true)
        end,
      },
      {
        lhs = "o",
        label = "open",
        desc = "read the file under the cursor, in a tab",
        harmless = true,
        fn = function()
          local file = files[vim.api.nvim_win_get_cursor(0)[1]]
          if file then
            local outside = vim.startswith(file, "/") or vim.startswith(file, "~")
            local path = outside and vim.fs.normalize(file, { expand_env = false }) or vim.fs.joinpath(root, file)
            actions.file("tab sview", path)
          end
        end,
      },
      {
        lhs = "q",
        label = "cancel",
        desc = "cancel: nothing starts",
        always = true,
        fn = function()
          answer(false)
        end,
      },
    },
    closed = function()
      if not answered then
        answered = true
        done(nil)
      end
    end,
  })
  window:paint(lines)
end

return M
