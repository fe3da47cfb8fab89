-- `sections = { lualine_x = { "superpower" } }`
return function()
  return require("superpower").statusline()
end
