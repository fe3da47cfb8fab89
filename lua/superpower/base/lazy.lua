--- Loads a module when one of its functions is first used. `boot.lua` and the command tables name every feature but
--- need few of them. All other files require their modules at the top.
---@param module string
---@return table
return function(module)
  return setmetatable({}, {
    __index = function(_, name)
      return require(module)[name]
    end,
  })
end
