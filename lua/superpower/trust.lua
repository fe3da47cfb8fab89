--- The first run of a declaration shows what it will do and asks. The engine keeps the answer and notices changed bytes.
--- The sheet is a decision like a gate: no stray key trusts anything, and closing it starts nothing.
local M = {}

---@class superpower.Sheet
---@field superpower string
---@field version? string
---@field path? string
---@field stages? { position: integer, label: string, actor?: string, kind: string, file?: string }[]
---@field files? (string|{ path: string })[]

---@param path string
---@param root string
---@return string
local function short(path, root)
  if vim.startswith(path, root .. "/") then
    return path:sub(#root + 2)
  end
  return vim.fn.fnamemodify(path, ":~")
end

--- The sheet, and which row stands for which file.
---@param sheet superpower.Sheet
---@param root string
---@param width integer
---@return superpower.Line[] lines, table<integer, string> files
function M.lines(sheet, root, width)
  local text = require("superpower.ui.text")
  local lines, files, named = {}, {}, {} ---@type superpower.Line[], table<integer, string>, table<string, true>
  local function add(line, file)
    table.insert(lines, line)
    if file then
      files[#lines], named[file] = file, true
    end
  end
  if sheet.path then
    add({ { "  " .. text.path(text.line(short(sheet.path, root)), width - 2), "SuperpowerPath" } }, sheet.path)
    add({ { "" } })
  end
  local actors = 12
  for _, stage in ipairs(sheet.stages or {}) do
    actors = math.max(actors, math.min(34, text.width(("%s %s"):format(stage.kind, stage.actor or ""))))
  end
  for _, stage in ipairs(sheet.stages or {}) do
    local number = { (" %3d  "):format(stage.position), "SuperpowerNumber" }
    local gate = stage.kind == "gate"
    local what = gate and "asks you" or text.line(("%s %s"):format(stage.kind, stage.actor or ""))
    local file = stage.file and stage.file ~= "" and stage.file or nil
    local tail = file and text.line(short(file, root)) or text.line(stage.label or "")
    if not file and not gate and not (stage.actor or ""):find(":", 1, true) then
      tail = "no file of it is found here" -- one with a namespace belongs to the agent's own plugins
    end
    add({
      number,
      { text.fit(what, actors) .. "  ", gate and "SuperpowerGate" or "SuperpowerLabel" },
      {
        (file and text.path or text.cut)(tail, math.max(8, width - actors - 8)),
        file and "SuperpowerPath" or "SuperpowerNote",
      },
    }, file)
  end
  for _, file in ipairs(sheet.files or {}) do
    local path = type(file) == "table" and file.path or file --[[@as string]]
    if not named[path] and not named[vim.fs.joinpath(root, path)] then
      if not named[""] then
        named[""] = true
        add({ { "" } })
        add({ { "Other files that it names", "SuperpowerHeading" } })
      end
      add({ { "  " .. text.path(text.line(short(path, root)), width - 2), "SuperpowerPath" } }, path)
    end
  end
  return lines, files
end

---@param root string
---@param name string
---@param digest string?
---@return boolean
local function grant(root, name, digest)
  local _, err = require("superpower.session").call("trust-grant", { root = root, name = name, digest = digest })
  if err then
    require("superpower.notify").fault(err)
  end
  return err == nil
end

---@param root string
---@param name string?
---@param data { digest?: string, changed?: boolean, sheet?: superpower.Sheet }
---@param go superpower.Answered
function M.ask(root, name, data, go)
  local sheet = data.sheet or { superpower = name or "?" }
  local float = require("superpower.ui.float")
  local text = require("superpower.ui.text")
  local width = float.wide(90)
  local lines, files = M.lines(sheet, root, width - 2)
  table.insert(lines, { { "" } })
  for _, line in
    ipairs(
      text.wrap("Its agents act with your rights. When any of these files changes you are asked again.", width - 2)
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
    go(trusted and grant(root, name or sheet.superpower, data.digest) and {} or nil)
  end
  local title = ("%s%s"):format(sheet.superpower or name or "?", sheet.version and " " .. sheet.version or "")
  window = require("superpower.ui.decision").open({
    filetype = "superpower-trust",
    title = { { " " .. text.cut(text.line(title), 40) .. ": what it will do ", "SuperpowerTitle" } },
    right = { { data.changed and " changed since you trusted it " or " not yet trusted ", "SuperpowerGate" } },
    help = "Trust",
    width = 90,
    height = require("superpower.ui.page").rows(lines, width - 1),
    enter = true,
    keys = {
      {
        lhs = "t",
        label = "trust it and go on",
        desc = "trust these files and go on",
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
            local path = vim.startswith(file, "/") and file or vim.fs.joinpath(root, file)
            vim.cmd("tab sview " .. vim.fn.fnameescape(path))
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
        go(nil)
      end
    end,
  })
  window:paint(lines)
end

return M
