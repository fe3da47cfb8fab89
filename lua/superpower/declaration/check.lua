--- Lists the problems of a project's declarations in the quickfix list. Of open declarations the buffer is checked.
local text = require("superpower.base.text")
local actions = require("superpower.editor.actions")
local lsp = require("superpower.lsp")
local lsp_text = require("superpower.lsp.text")
local notify = require("superpower.notify")
local skipped_links = require("superpower.runs.skipped_links")
local session = require("superpower.session")

local M = {}

--- Returns the texts of unsaved declarations, by path.
---@param root string
---@return table<string, string>
local function unsaved(root)
  local texts = vim.empty_dict()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local path = vim.api.nvim_buf_get_name(buf)
    local option = vim.bo[buf]
    local wanted = option.modified and option.buftype == "" and vim.api.nvim_buf_is_loaded(buf)
    -- In another encoding it is not a valid declaration, saved or not, and checking the file shows that.
    local encoded = option.fileencoding ~= "" and option.fileencoding ~= "utf-8"
    if wanted and not encoded and lsp.is_declaration(path, root) then
      texts[path] = lsp_text.readable(lsp_text.of(buf))
    end
  end
  return texts
end

local KIND = { "E", "W", "I", "N" }

---@param path string
---@param problem superpower.Diagnostic
local function item(path, problem)
  return {
    filename = path,
    lnum = problem.lnum + 1,
    col = problem.col + 1,
    end_lnum = problem.end_lnum + 1,
    end_col = problem.end_col + 1,
    type = KIND[problem.severity],
    text = ("%s [%s]"):format(text.line(problem.message), problem.code),
  }
end

---@param root string
---@param answer { files: { path: string, diagnostics: superpower.Diagnostic[] }[] }
local function show(root, answer)
  local items, errors = {}, 0
  for _, file in ipairs(answer.files) do
    for _, problem in ipairs(file.diagnostics) do
      errors = errors + (problem.severity == 1 and 1 or 0)
      items[#items + 1] = item(file.path, problem)
    end
  end
  vim.fn.setqflist({}, " ", { title = "Superpower check", items = items })
  if #answer.files == 0 then
    skipped_links.sentence(root, function(links)
      notify.info("0 superpowers checked: no problems" .. links)
    end)
  elseif #items == 0 then
    local plural = #answer.files == 1 and "" or "s"
    notify.info(("%d superpower%s checked: no problems"):format(#answer.files, plural))
  else
    local problems = #items == 1 and "problem" or "problems"
    local error_count = errors == 1 and "error" or "errors"
    notify.info(("%d %s (%d %s): see the quickfix list"):format(#items, problems, errors, error_count))
    actions.split("botright copen")
  end
end

---@param root string
---@param name? string one superpower; default: all of them
function M.run(root, name)
  session.ask("check-all", { root = root, name = name, texts = unsaved(root) }, function(answer, err)
    if not answer then
      return notify.engine_error(assert(err))
    end
    show(root, answer)
  end)
end

return M
