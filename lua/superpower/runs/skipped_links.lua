--- Links that are not followed because they leave the project. They are reported where something seems to be missing.
local session = require("superpower.session")

local M = {}

--- Builds the text that follows "none here", or "".
---@param root string
---@param done fun(sentence: string)
function M.sentence(root, done)
  session.ask("left", { root = root }, function(found)
    done(found and #found > 0 and "; " .. table.concat(found, "; ") or "")
  end)
end

--- Returns the links as a list, if nothing was found.
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
