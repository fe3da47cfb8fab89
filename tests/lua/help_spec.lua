-- The help page lists every sub-command, mapping, highlight group, event and option, and no others.
local T = require("harness")
local describe, it, eq, ok, contains = T.describe, T.it, T.eq, T.ok, T.contains

local page = T.read(T.root .. "/doc/superpower.txt")

describe("the help page", function()
  it("names every sub-command", function()
    local nvim = T.child()
    for name in
      pairs(nvim:lua("return vim.tbl_map(function(s) return s.desc end, require('superpower.commands.subcommands'))"))
    do
      if name ~= "dashboard" then
        contains(page, "*:Superpower-" .. name .. "*")
      end
    end
  end)

  it("shows only commands that exist", function()
    local nvim = T.child()
    local known = nvim:lua("return vim.tbl_map(function() return true end, require('superpower.commands.subcommands'))")
    for word in page:gmatch(":Superpower ([%l]+)") do
      ok(known[word], word)
    end
    for word in page:gmatch("Superpower! ([%l]+)") do
      ok(known[word], word)
    end
  end)

  it("names every mapping that exists", function()
    local nvim = T.child()
    local maps = nvim:lua([[
      local found = {}
      for _, map in ipairs(vim.api.nvim_get_keymap("n")) do
        if map.lhs:match("^<Plug>%(superpower") then table.insert(found, map.lhs) end
      end
      return found
    ]])
    ok(#maps >= 17)
    for _, map in ipairs(maps) do
      contains(page, map)
    end
    for map in page:gmatch("<Plug>%(superpower%-%l+%)") do
      ok(vim.tbl_contains(maps, map), map)
    end
  end)

  it("names every highlight group, with its link", function()
    local nvim = T.child()
    for _, group in ipairs(nvim:lua("return require('superpower.ui.highlights').groups")) do
      ok(page:find(group.name .. " +" .. group.link), group.name)
    end
  end)

  it("names every User event and every function", function()
    local nvim = T.child()
    for _, name in pairs(nvim:lua("return require('superpower.events').user")) do
      contains(page, "*" .. name .. "*")
    end
    for name in pairs(nvim:lua("return vim.tbl_map(function() return true end, require('superpower'))")) do
      contains(page, ("*superpower.%s()*"):format(name))
    end
  end)

  it("fits a window of 80 columns", function()
    for line in page:gmatch("[^\n]+") do
      ok(vim.api.nvim_strwidth(line) <= 78, line)
    end
  end)

  it("has no broken link", function()
    local nvim = T.child()
    nvim:cmd("helptags " .. T.root .. "/doc")
    for tag in page:gmatch("|([^|%s]+)|") do
      ok(#nvim:lua("return vim.fn.getcompletion(..., 'help')", tag) > 0, tag)
    end
    nvim:cmd("help superpower")
    eq("help", nvim:eval("&buftype"))
  end)
end)
