--- Shows the diagnostics of a document.
local text = require("superpower.lsp.text")

--- In a text longer than this (bytes), hints wait for a pause in typing (milliseconds).
local LONG, PAUSE = 16 * 1024, 150

--- Sets diagnostics as Neovim's own handler does. That handler would read the whole buffer.
---@param document superpower.lsp.Document
---@param diagnostics table[]
local function set_directly(document, diagnostics)
  local client = vim.lsp.get_clients({ bufnr = document.buf, name = "superpower" })[1]
  if not client then
    return
  end
  local all = {}
  for index, problem in ipairs(diagnostics) do
    local from, to = problem.range.start, problem.range["end"]
    local columns = problem.columns or { from.character, to.character }
    all[index] = {
      bufnr = document.buf,
      lnum = from.line,
      col = columns[1],
      end_lnum = to.line,
      end_col = columns[2],
      severity = problem.severity,
      message = problem.message,
      source = problem.source,
      code = problem.code,
      user_data = { lsp = problem },
    }
  end
  vim.diagnostic.set(vim.lsp.diagnostic.get_namespace(client.id), document.buf, all)
end

--- Makes the editor ask for the hints again.
---@param dispatchers vim.lsp.rpc.Dispatchers
---@param document superpower.lsp.Document
local function refresh(dispatchers, document)
  local hints = vim.lsp.inlay_hint
  if not hints.is_enabled({ bufnr = document.buf }) then
    return
  elseif vim.fn.has("nvim-0.11") == 0 and document.tick == document.published then
    hints.enable(true, { bufnr = document.buf }) -- 0.10 updates the hints of an unchanged text only after enabling them again
  else
    dispatchers.server_request("workspace/inlayHint/refresh", {})
  end
  document.published = document.tick
end

---@param dispatchers vim.lsp.rpc.Dispatchers
---@param document superpower.lsp.Document
---@param diagnostics table[]
return function(dispatchers, document, diagnostics)
  if document:is_long() then
    set_directly(document, diagnostics)
  else
    dispatchers.notification("textDocument/publishDiagnostics", {
      uri = document.uri,
      version = document.tick,
      diagnostics = diagnostics,
    })
  end
  if text.size(document.buf) <= LONG then
    return refresh(dispatchers, document)
  end
  document.calm = document.calm or assert(vim.uv.new_timer())
  document.calm:start(
    PAUSE,
    0,
    vim.schedule_wrap(function()
      if not document.closed and document.tick then
        refresh(dispatchers, document)
      end
    end)
  )
end
