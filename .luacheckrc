std = "luajit"
globals = { "vim" }
max_line_length = 160 -- stylua breaks code at 120; what is longer is text
files["tests/lua/run.lua"] = { globals = { "arg" } }
files["scripts"] = { globals = { "arg" } }
