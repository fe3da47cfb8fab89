--- The first run of a declaration shows what it will do and asks. The engine keeps the answer and notices changed bytes.
local M = {}

---@param sheet table
---@return string[]
function M.lines(sheet)
  local text = require("superpower.ui.text")
  local out = { (" %s %s"):format(sheet.superpower or "?", sheet.version and "v" .. sheet.version or "") }
  if sheet.path then
    table.insert(out, " " .. text.line(sheet.path))
  end
  table.insert(out, "")
  for _, stage in ipairs(sheet.stages or {}) do
    local what = stage.kind == "gate" and "gate" or ("%s %s"):format(stage.kind or "agent", stage.actor or "")
    table.insert(
      out,
      (" %2d  %-34s %s"):format(stage.position, text.cut(text.line(what), 34), text.line(stage.file or ""))
    )
    table.insert(out, "     " .. text.cut(text.line(stage.label or ""), 80))
  end
  if #(sheet.files or {}) > 0 then
    table.insert(out, "")
    table.insert(out, " Files that it stands on")
    for _, file in ipairs(sheet.files) do
      table.insert(out, "   " .. text.line(type(file) == "table" and (file.path or "") or file))
    end
  end
  return out
end

---@param root string
---@param name string?
---@param data { digest?: string, sheet?: table }
---@param go superpower.Answered
function M.ask(root, name, data, go)
  local sheet = data.sheet or {}
  name = name or sheet.superpower
  local page = require("superpower.ui.sheet").open("What this superpower will do", M.lines(sheet))
  vim.ui.select({ "Trust it and go on", "Cancel" }, {
    prompt = ('"%s" has not run here before, or has changed since. Its agents act with your rights.'):format(
      name or "?"
    ),
    kind = "superpower",
  }, function(_, index)
    page.close()
    if index ~= 1 then
      go(nil)
      return
    end
    local _, err = require("superpower.session").call("trust-grant", { root = root, name = name, digest = data.digest })
    if err then
      require("superpower.notify").fault(err)
      go(nil)
    else
      go({})
    end
  end)
end

return M
