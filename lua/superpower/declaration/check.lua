--- What is wrong in the declarations of a project, as a quickfix list: of those that are open, what stands in the buffer.
local text = require("superpower.base.text")
local actions = require("superpower.editor.actions")
local lsp = require("superpower.lsp")
local lsp_text = require("superpower.lsp.text")
local notify = require("superpower.notify")
local skipped_links = require("superpower.runs.skipped_links")
local session = require("superpower.session")

local M = {}

--- The texts of declarations that have not been saved, by path.
---@param root string
---@return table<string, string>
local function unsaved(root)
  local texts = vim.empty_dict()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local path = vim.api.nvim_buf_get_name(buf)
    local option = vim.bo[buf]
    local wanted = option.modified and option.buftype == "" and vim.api.nvim_buf_is_loaded(buf)
    -- In another encoding it is no declaration, saved or not, and the file shows it.
    local encoded = option.fileencoding ~= "" and option.fileencoding ~= "utf-8"
    if wanted and not encoded and lsp.is_declaration(path, root) then
      texts[path] = lsp_text.readable(lsp_text.of(buf))
    end
  end
  return texts
end

local KIND = { "E", "W", "I", "N" }

---@param path string
---@param fault superpower.Diagnostic
local function item(path, fault)
  return {
    filename = path,
    lnum = fault.lnum + 1,
    col = fault.col + 1,
    end_lnum = fault.end_lnum + 1,
    end_col = fault.end_col + 1,
    type = KIND[fault.severity],
    text = ("%s [%s]"):format(text.line(fault.message), fault.code),
  }
end

---@param root string
---@param answer { files: { path: string, diagnostics: superpower.Diagnostic[] }[] }
local function show(root, answer)
  local items, errors = {}, 0
  for _, file in ipairs(answer.files) do
    for _, fault in ipairs(file.diagnostics) do
      errors = errors + (fault.severity == 1 and 1 or 0)
      items[#items + 1] = item(file.path, fault)
    end
  end
  vim.fn.setqflist({}, " ", { title = "Superpower check", items = items })
  if #answer.files == 0 then
    skipped_links.sentence(root, function(links)
      notify.info("0 superpowers checked: nothing to mend" .. links)
    end)
  elseif #items == 0 then
    local plural = #answer.files == 1 and "" or "s"
    notify.info(("%d superpower%s checked: nothing to mend"):format(#answer.files, plural))
  else
    notify.info(("%d to mend, %d of them errors: see the quickfix list"):format(#items, errors))
    actions.split("botright copen")
  end
end

---@param root string
---@param name? string of one superpower; none: all of them
function M.run(root, name)
  session.ask("check-all", { root = root, name = name, texts = unsaved(root) }, function(answer, err)
    if not answer then
      return notify.engine_error(assert(err))
    end
    show(root, answer)
  end)
end

return M
