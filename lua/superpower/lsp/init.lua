--- Starts the built-in language server for buffers with declarations, without a process: `:help superpower-editing`.
local config = require("superpower.config")
local engine = require("superpower.engine")
local completion_done = require("superpower.lsp.completion_done")
local other_server = require("superpower.lsp.other_server")
local places = require("superpower.lsp.places")
local server = require("superpower.lsp.server")
local notify = require("superpower.notify")
local session = require("superpower.session")

local M = {}

---@type table<integer, "on"|"off"> buffers with declarations, and the last state of their off switches
local known = {}
local reported = {} ---@type table<string, true>

local function on(value)
  return value ~= nil and value ~= false and value ~= 0
end

---@param buf integer
local function disabled(buf)
  return on(vim.g.superpower_disable) or on(vim.b[buf].superpower_disable)
end

--- Reports once why the server is not available.
---@param err superpower.Error
local function report(err)
  if not reported[err.code] then
    reported[err.code] = true
    notify.warn(err.message)
  end
end

---@param path string
---@param dir string
local function below(path, dir)
  dir = dir:gsub("/+$", "")
  return dir ~= "" and vim.startswith(path, dir .. "/")
end

--- Whether a file name fits a declaration.
---@param path string
local function has_name(path)
  local stem = vim.fs.basename(path):match("^(.+)%.ya?ml$")
  return stem ~= nil and stem ~= "schema"
end

--- Whether a file is a declaration, by its place.
---@param path string absolute
---@param root? string
---@return boolean
function M.is_declaration(path, root)
  if not has_name(path) then
    return false
  end
  for _, folder in ipairs({ "%.claude/superpowers", "%.claude/taffy", "%.opencode/superpowers" }) do
    if path:find("/" .. folder .. "/.") then
      return true
    end
  end
  for _, place in ipairs(config.get().places) do
    local dir = place:sub(1, 1) == "~" and vim.fn.expand(place) or place
    if dir:sub(1, 1) ~= "/" then
      dir = root and vim.fs.joinpath(root, dir) or nil
    end
    if dir and below(path, vim.fs.normalize(dir)) then
      return true
    end
  end
  return false
end

---@param buf integer
---@return vim.lsp.Client?
local function client(buf)
  return vim.lsp.get_clients({ bufnr = buf, name = "superpower" })[1]
end

---@param buf integer
---@return string? root, superpower.Error? err
local function project(buf)
  local fields = { cwd = vim.uv.cwd(), file = vim.api.nvim_buf_get_name(buf) }
  local answer, err = session.call("project", fields)
  return answer and answer.root, err
end

--- Enables inlay hints in a buffer.
---@param buf integer
local function show_hints(buf)
  if config.get().hints then
    vim.lsp.inlay_hint.enable(true, { bufnr = buf })
  end
end

---@param buf integer
local function start(buf)
  local root, err = project(buf)
  if err and err.code ~= "no-project" then
    return report(err)
  end
  if not M.is_declaration(vim.api.nvim_buf_get_name(buf), root) then
    known[buf] = nil
    return
  end
  local id = vim.lsp.start({
    name = "superpower",
    cmd = server.start(root),
    root_dir = root,
    on_attach = function(_, attached)
      show_hints(attached)
    end,
  }, { bufnr = buf })
  if id and root then
    places.watch(root)
  end
end

--- Attaches the server to a buffer, or detaches it, if the off switches have changed. A user who stopped the server in
--- another way is respected.
---@param buf integer
function M.sync(buf)
  if not vim.api.nvim_buf_is_loaded(buf) or vim.v.exiting ~= vim.NIL then
    return
  end
  local wanted = disabled(buf) and "off" or "on"
  if known[buf] == wanted then
    return
  end
  known[buf] = wanted
  local serving = client(buf)
  if wanted == "off" and serving then
    vim.lsp.buf_detach_client(buf, serving.id)
  elseif wanted == "on" and not serving then
    start(buf)
  end
end

local function sync_all()
  for buf in pairs(known) do
    M.sync(buf)
  end
end

--- Checks the documents of a project again, because its files may have changed.
---@param root? string
local function recheck(root)
  server.each(function(document)
    if not root or document.root == root then
      document:recheck()
    end
  end)
end

--- Asks the engine to read the projects of the open declarations again.
local function reread_projects()
  local roots = {}
  server.each(function(document)
    if document.root then
      roots[document.root] = true
    end
  end)
  for root in pairs(roots) do
    engine.call("project-renew", { root = root })
  end
end

local listening = false
local function listen()
  if listening then
    return
  end
  listening = true
  engine.on("diagnostics", function(event)
    server.each(function(document)
      if document.path == event.path then
        document:arrived(event)
      end
    end)
  end)
  engine.on("project-changed", function(event)
    recheck(event.root)
  end)
  local group = vim.api.nvim_create_augroup("superpower_lsp", { clear = true })
  local function autocmd(events, desc, callback)
    vim.api.nvim_create_autocmd(events, { group = group, desc = desc, callback = callback })
  end
  autocmd({ "BufEnter", "InsertLeave", "CursorHold" }, "Apply the off switches", function(event)
    if known[event.buf] then
      M.sync(event.buf)
    end
  end)
  autocmd("CmdlineLeave", "Apply the off switches", function()
    vim.schedule(sync_all)
  end)
  autocmd("FocusGained", "Check whether files have changed", reread_projects)
  autocmd("LspAttach", "Do not repeat what another YAML server offers", function(event)
    if known[event.buf] then
      other_server.watch(event.buf)
    end
  end)
  autocmd("CompleteDone", "Insert the whole completion item", function(event)
    if known[event.buf] and vim.v.completed_item.word then
      completion_done.complete(vim.v.completed_item, vim.v.event.reason)
    end
  end)
  autocmd({ "BufDelete", "BufWipeout" }, "Forget the buffer", function(event)
    if known[event.buf] then
      known[event.buf] = nil
      other_server.forget(event.buf)
    end
  end)
end

--- Attaches the server to a buffer that holds a declaration. Called for every YAML file in a folder of superpowers.
---@param buf integer
function M.attach(buf)
  local unsuitable = vim.bo[buf].buftype ~= "" or not has_name(vim.api.nvim_buf_get_name(buf))
  if unsuitable or not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  listen()
  local serving = client(buf)
  if serving and not server.has(vim.uri_from_bufnr(buf)) then
    vim.lsp.buf_detach_client(buf, serving.id) -- the buffer was renamed
    serving = nil
  end
  if not serving then
    known[buf] = "off"
    M.sync(buf)
  end
end

return M
