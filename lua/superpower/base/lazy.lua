--- A module that is loaded when something of it is first used. For `boot.lua` and the command's table, which name every
--- feature and need few of them: everybody else requires at the top what stands below.
---@param module string
---@return table
return function(module)
  return setmetatable({}, {
    __index = function(_, name)
      return require(module)[name]
    end,
  })
end
