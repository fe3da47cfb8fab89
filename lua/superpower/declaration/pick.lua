--- Pickers, all with `vim.ui.select`.
local text = require("superpower.base.text")
local notify = require("superpower.notify")
local skipped_links = require("superpower.runs.skipped_links")
local session = require("superpower.session")

local M = {}

---@param entry table
---@return string
local function superpower_line(entry)
  if (entry.errors or 0) > 0 then
    return ("%s  %d error%s: %s"):format(
      entry.name,
      entry.errors,
      entry.errors == 1 and "" or "s",
      text.line(entry.first_error or "")
    )
  end
  return ("%s  %s  (%d stages)"):format(entry.name, text.line(entry.description or ""), entry.stages or 0)
end

--- Lets the user choose a superpower of this project.
---@param prompt string
---@param chosen fun(name: string)
function M.superpower(prompt, chosen)
  local root, problem = session.project()
  if not root then
    return notify.engine_error(assert(problem))
  end
  session.ask("list", { root = root }, function(list, err)
    if not list then
      notify.engine_error(assert(err))
    elseif #list == 0 then
      skipped_links.sentence(root, function(links)
        notify.info(("no superpowers in %s: :Superpower new NAME creates one%s"):format(root, links))
      end)
    else
      vim.ui.select(list, { prompt = prompt, kind = "superpower", format_item = superpower_line }, function(entry)
        if entry then
          chosen(entry.name)
        end
      end)
    end
  end)
end

return M
