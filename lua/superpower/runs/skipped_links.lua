--- Links that are not followed, since they leave the project: said where something seems to be missing.
local session = require("superpower.session")

local M = {}

--- What is said behind "none here", or "".
---@param root string
---@param done fun(sentence: string)
function M.sentence(root, done)
  session.ask("left", { root = root }, function(found)
    done(found and #found > 0 and "; " .. table.concat(found, "; ") or "")
  end)
end

--- The same as a list, where nothing was found.
---@param root string
---@param found table[]?
---@param done fun(left: string[]?)
function M.unless_found(root, found, done)
  if found and #found > 0 then
    return done(nil)
  end
  session.ask("left", { root = root }, function(left)
    done(left)
  end)
end

return M
