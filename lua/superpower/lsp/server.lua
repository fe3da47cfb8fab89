--- A language server inside the editor: Neovim talks to it as to any other, and the engine answers.
local engine = require("superpower.engine")
local Document = require("superpower.lsp.document")
local other_server = require("superpower.lsp.other_server")
local publish = require("superpower.lsp.publish")

local M = {}

local UNKNOWN_METHOD, FAILED, MODIFIED = -32601, -32803, -32801

M.capabilities = {
  positionEncoding = "utf-16",
  textDocumentSync = { openClose = true, change = 0 }, -- the document reads its buffer itself
  completionProvider = { triggerCharacters = { " ", "{", "[", ".", "=", '"', "'" } },
  hoverProvider = true,
  definitionProvider = true,
  referencesProvider = true,
  documentHighlightProvider = true,
  renameProvider = { prepareProvider = true },
  documentSymbolProvider = true,
  codeActionProvider = { codeActionKinds = { "quickfix" } },
  inlayHintProvider = true,
}

---@class superpower.lsp.Server
---@field documents table<string, superpower.lsp.Document> by uri
---@field dispatchers vim.lsp.rpc.Dispatchers
---@field root? string

---@param position lsp.Position
local function place(position)
  return { position.line, position.character }
end

--- Whether another server already covers keys and values.
---@param document superpower.lsp.Document
local function without_keys(document)
  return other_server.offers_keys(document.buf) or nil
end

---@type table<string, fun(params: table, server: superpower.lsp.Server, document: superpower.lsp.Document): table>
local questions = {
  ["textDocument/completion"] = function(params, _, document)
    return {
      method = "complete",
      position = place(params.position),
      without_keys = without_keys(document),
    }
  end,
  ["textDocument/hover"] = function(params, _, document)
    return { method = "hover", position = place(params.position), without_keys = without_keys(document) }
  end,
  ["textDocument/definition"] = function(params)
    return { method = "definition", position = place(params.position) }
  end,
  ["textDocument/references"] = function(params)
    local context = params.context or {}
    return {
      method = "references",
      position = place(params.position),
      declaration = context.includeDeclaration ~= false,
    }
  end,
  ["textDocument/documentHighlight"] = function(params)
    return { method = "references", position = place(params.position), declaration = true }
  end,
  ["textDocument/prepareRename"] = function(params)
    return { method = "prepare-rename", position = place(params.position) }
  end,
  ["textDocument/rename"] = function(params)
    return { method = "rename", position = place(params.position), new_name = params.newName }
  end,
  ["textDocument/documentSymbol"] = function()
    return { method = "symbols" }
  end,
  ["textDocument/codeAction"] = function(params)
    return { method = "actions", position = place(params.range.start), ["end"] = place(params.range["end"]) }
  end,
  ["textDocument/inlayHint"] = function()
    return { method = "hints" }
  end,
}

---@type table<string, fun(result: any, params: table): any>
local shaped = {
  ["textDocument/completion"] = function(result)
    if vim.fn.has("nvim-0.11") == 0 then -- 0.10 inserts a line break as a NUL
      for _, item in ipairs(result.items) do
        item.textEdit.newText = item.textEdit.newText:match("^[^\n]*")
      end
    end
    return result
  end,
  ["textDocument/documentHighlight"] = function(result)
    return vim.tbl_map(function(location)
      return { range = location.range, kind = 1 }
    end, result)
  end,
  ["textDocument/codeAction"] = function(result, params)
    local only = params.context and params.context.only
    local wanted = not only or vim.iter(only):any(function(kind)
      return kind == "" or kind == "quickfix"
    end)
    return wanted and result or {}
  end,
  ["textDocument/inlayHint"] = function(result, params)
    local from, to = params.range.start.line, params.range["end"].line
    return vim.tbl_filter(function(hint)
      return hint.position.line >= from and hint.position.line <= to
    end, result)
  end,
}

local ask ---@type fun(server: superpower.lsp.Server, method: string, params: table, reply: fun(err: table?, result: any), rounds: integer?)
local max_rounds = 8

--- Returns the cursor, if the user who requested completion is still typing in the same line.
---@param document superpower.lsp.Document
---@param position lsp.Position
---@return lsp.Position?
local function current_position(document, position)
  if vim.api.nvim_get_current_buf() ~= document.buf or vim.api.nvim_get_mode().mode:sub(1, 1) ~= "i" then
    return nil
  end
  local now = vim.lsp.util.make_position_params(0, "utf-16").position
  return now.line == position.line and now.character >= position.character and now or nil
end

--- Answers a request about a text that has changed. Completion is asked again at the new position, because the editor
--- asks only once. Other requests get no answer, without an error message, except rename.
---@param server superpower.lsp.Server
---@param method string
---@param params table
---@param reply fun(err: table?, result: any)
---@param rounds integer
local function outdated(server, method, params, reply, rounds)
  local document = server.documents[params.textDocument.uri]
  local now = method == "textDocument/completion" and document and current_position(document, params.position)
  if now and rounds < max_rounds then
    return ask(server, method, vim.tbl_extend("force", params, { position = now }), reply, rounds + 1)
  end
  local error = { code = MODIFIED, message = "the text has changed" }
  reply(method == "textDocument/rename" and error or nil, nil)
end

---@param server superpower.lsp.Server
---@param method string
---@param params table
---@param reply fun(err: table?, result: any)
---@param rounds integer?
ask = function(server, method, params, reply, rounds)
  rounds = rounds or 0
  local document = server.documents[params.textDocument.uri]
  if not document then
    return reply(nil, nil)
  end
  local function answer(fine)
    if not fine then
      return reply(nil, nil)
    end
    local fields = questions[method](params, server, document)
    fields.path, fields.tick = document.path, document.tick
    local result, err = engine.call("assist", fields)
    if err and err.code == "outdated" then
      return outdated(server, method, params, reply, rounds)
    elseif err then
      return reply({ code = FAILED, message = err.message }, nil)
    end
    if result ~= nil and shaped[method] then
      result = shaped[method](result, params)
    end
    -- The answer arrives in the next turn of the main loop. If the text has changed by then, it is worthless.
    local tick = document.tick
    vim.schedule(function()
      if document.closed or tick == vim.api.nvim_buf_get_changedtick(document.buf) then
        reply(nil, result)
      else
        outdated(server, method, params, reply, rounds)
      end
    end)
  end
  local function ready()
    document:ready(answer)
  end
  if method == "textDocument/completion" or method == "textDocument/hover" then
    other_server.query(document.buf, ready)
  else
    ready()
  end
end

---@type table<string, fun(server: superpower.lsp.Server, params: table)>
local notifications = {
  ["textDocument/didOpen"] = function(server, params)
    local uri = params.textDocument.uri
    local buf = vim.uri_to_bufnr(uri)
    if server.documents[uri] then
      server.documents[uri]:close()
    end
    local document = Document.new(buf, server.root, function(document, diagnostics)
      publish(server.dispatchers, document, diagnostics)
    end)
    document.uri = uri
    server.documents[uri] = document
    document:changed()
  end,
  ["textDocument/didClose"] = function(server, params)
    local document = server.documents[params.textDocument.uri]
    server.documents[params.textDocument.uri] = nil
    if document then
      document:close()
    end
  end,
}

local servers = setmetatable({}, { __mode = "k" }) ---@type table<superpower.lsp.Server, true>

--- Calls `visit` with every open document.
---@param visit fun(document: superpower.lsp.Document)
function M.each(visit)
  for server in pairs(servers) do
    for _, document in pairs(server.documents) do
      visit(document)
    end
  end
end

--- Whether a document is open under this URI.
---@param uri string
---@return boolean
function M.has(uri)
  for server in pairs(servers) do
    if server.documents[uri] then
      return true
    end
  end
  return false
end

--- Returns what `vim.lsp.start` takes as `cmd`.
---@param root? string
---@return fun(dispatchers: vim.lsp.rpc.Dispatchers): table
function M.start(root)
  return function(dispatchers)
    local server = { documents = {}, dispatchers = dispatchers, root = root } ---@type superpower.lsp.Server
    servers[server] = true
    local last, closing = 0, false
    local function close()
      closing = true
      servers[server] = nil
      for uri, document in pairs(server.documents) do
        server.documents[uri] = nil
        document:close()
      end
    end
    return {
      request = function(method, params, callback, notify_reply)
        last = last + 1
        local id = last
        local function reply(err, result)
          vim.schedule(function()
            callback(err, result)
            if notify_reply then
              notify_reply(id)
            end
          end)
        end
        if method == "initialize" then
          reply(nil, { capabilities = M.capabilities, serverInfo = { name = "superpower" } })
        elseif method == "shutdown" then
          reply(nil, nil)
        elseif questions[method] then
          ask(server, method, params, reply)
        else
          reply({ code = UNKNOWN_METHOD, message = "unknown method " .. method }, nil)
        end
        return true, id
      end,
      notify = function(method, params)
        if method == "exit" then
          close()
          dispatchers.on_exit(0, 15)
        elseif notifications[method] then
          notifications[method](server, params)
        end
        return true
      end,
      is_closing = function()
        return closing
      end,
      terminate = close,
    }
  end
end

return M
