--- Finds the native library and checks that it fits this plugin. Only `engine.lua` uses this module.
---
--- The library is loaded by its full path: the same name on the runtimepath could belong to another plugin, or be an
--- old copy.

local M = {}

--- The protocol version that the Lua half expects.
M.PROTOCOL = 2

---@class superpower.Native
---@field call fun(request: string): string
---@field poll fun(max: integer): string
---@field attach fun(fd: integer): string
---@field detach fun(): string
---@field log fun(path: string): string
---@field version string
---@field protocol integer

--- Returns the directory of the plugin.
---@return string
function M.root()
  return vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h:h:h:h")
end

--- Returns the paths where the library is looked for, in this order.
---@return string[]
function M.paths()
  local override = vim.env.SUPERPOWER_NATIVE
  if override and override ~= "" then
    return { override }
  end
  local root, paths = M.root(), {}
  for _, place in ipairs({ "lib", "target/release" }) do
    for _, suffix in ipairs({ "so", "dylib" }) do
      paths[#paths + 1] = ("%s/%s/libsuperpower.%s"):format(root, place, suffix)
    end
  end
  return paths
end

local function rebuild()
  return ('run "make build" in %s'):format(M.root())
end

---@param code string
---@param message string
---@param data? table
---@return nil, superpower.Error
local function refused(code, message, data)
  return nil, { code = code, message = message, data = data }
end

---@return superpower.Native? native
---@return string|superpower.Error path, or the error
function M.open()
  local paths = M.paths()
  local path = vim.iter(paths):find(vim.uv.fs_stat)
  if not path then
    local message = "the native library is missing: %s\nlooked for:\n  %s"
    return refused("library-missing", message:format(rebuild(), table.concat(paths, "\n  ")), { paths = paths })
  end
  local entry, reason = package.loadlib(path, "luaopen_superpower_native")
  if not entry then
    local message = 'the native library "%s" cannot be loaded: %s; %s'
    return refused("library-broken", message:format(path, reason, rebuild()), { path = path })
  end
  local fine, exports = pcall(entry)
  if not fine or type(exports) ~= "table" then
    local message = 'the native library "%s" did not start: %s'
    return refused("library-broken", message:format(path, tostring(exports)), { path = path })
  end
  if exports.protocol ~= M.PROTOCOL then
    local message = 'the native library "%s" speaks protocol %s, the plugin %d: %s, then restart Neovim'
    message = message:format(path, tostring(exports.protocol), M.PROTOCOL, rebuild())
    return refused("protocol-mismatch", message, { path = path, library = exports.protocol, plugin = M.PROTOCOL })
  end
  return exports, path
end

return M
