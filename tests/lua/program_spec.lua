-- Programs that Lua starts or searches: never one from the project.

local T = require("harness")
local describe, it, eq, contains = T.describe, T.it, T.eq, T.contains

local function program(path, text)
  T.write(path, "#!/bin/sh\n" .. text .. "\n")
  vim.fn.setfperm(path, "rwxr-xr-x")
end

describe("a program", function()
  it("is found in absolute entries of PATH outside of the project only", function()
    local project, own = T.dir(), T.dir()
    for _, place in ipairs({ project, project .. "/tools", own }) do
      program(place .. "/thing", "exit 0")
    end
    vim.uv.fs_symlink(project .. "/tools", own .. "/link")
    local around = own .. "/../" .. vim.fs.basename(project) .. "/tools"
    for _, place in ipairs({ "", ".", "tools", "./tools", project .. "/tools", own .. "/link", around }) do
      local nvim = T.child({ env = { PATH = place .. ":" .. own .. ":" .. vim.env.PATH } })
      local find = "vim.cmd.cd(...); return require('superpower.base.program').find('thing')"
      eq(own .. "/thing", nvim:lua(find, project), place)
    end
    local nvim = T.child({ env = { PATH = "tools:" .. own .. ":" .. vim.env.PATH } })
    local find = "vim.cmd.cd(vim.env.HOME); return require('superpower.base.program').find('thing')"
    eq(own .. "/thing", nvim:lua(find), "the home directory is no project")
  end)

  it("that is asked for its version finds no helper in the project", function()
    local project, own = T.dir(), T.dir()
    T.write(project .. "/.claude/agents/a.md", "x")
    program(project .. "/tools/helper", "touch " .. project .. "/ran; echo evil")
    program(own .. "/helper", "echo fine 1.0")
    program(own .. "/claude", "helper")
    local nvim = T.child({ cwd = project, env = { PATH = "./tools:" .. own .. ":" .. vim.env.PATH } })
    nvim:cmd("checkhealth superpower")
    local text = table.concat(nvim:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"), "\n")
    contains(text, own .. "/claude · fine 1.0")
    eq(nil, vim.uv.fs_stat(project .. "/ran"))
  end)
end)
