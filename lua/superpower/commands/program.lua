--- The bang of what only shows something. The program `superpower`, which is built beside the library, makes the text.
local args = require("superpower.base.args")
local errors = require("superpower.base.errors")
local headless = require("superpower.commands.headless")
local status_code = require("superpower.commands.status_code")
local config = require("superpower.config")
local engine = require("superpower.engine")
local session = require("superpower.session")

local M = {}

--- Runs a verb of the program, for this project and with this editor's options, and quits with its exit code.
---@param verb string
---@param rest string
---@param run_id? string
function M.show(verb, rest, run_id)
  local words, problem = args.words(rest)
  if not words then
    return headless.refuse(assert(problem))
  end
  local root, err = session.project()
  if err or not root then
    return headless.refuse(errors.text(assert(err)), status_code.refused(verb, err))
  end
  local path = vim.fs.joinpath(vim.fs.dirname(assert(engine.info()).path), "superpower")
  if vim.fn.executable(path) == 0 then
    local missing = '"%s" needs the program "superpower" beside the library (%s): run `make build`'
    return headless.refuse(missing:format(verb, path), 1)
  end
  local cmd = vim.list_extend({ path, "--root", root, "--editor", verb, "--" }, run_id and { "run=" .. run_id } or {})
  local options = config.for_engine(config.get())
  options.headless = true
  headless.pass_on(vim.system(vim.list_extend(cmd, words), { stdin = vim.json.encode(options) }):wait())
end

return M
