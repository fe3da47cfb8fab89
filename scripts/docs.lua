-- Writes the generated parts of doc/superpower.txt, and schema/options.json: `nvim -l scripts/docs.lua [--check]`.
--
-- A part begins below a line that ends in its tag and ends at the next rule (a line of = or -). What it says is taken
-- from the tables that the code itself uses, so that the page cannot say something else.

local root = vim.fn.fnamemodify(arg[0], ":p:h:h")
vim.opt.runtimepath:prepend(root)
local page = root .. "/doc/superpower.txt"

--- Words in lines of at most 78 columns.
local function wrapped(text, indent)
  local lines, line = {}, ""
  for word in text:gsub("%s+", " "):gmatch("%S+") do
    if line ~= "" and #indent + vim.fn.strdisplaywidth(line .. " " .. word) > 78 then
      lines[#lines + 1] = indent .. line
      line = word
    else
      line = line == "" and word or line .. " " .. word
    end
  end
  lines[#lines + 1] = indent .. line
  return lines
end

--- A name, what it is, its tag at the right, and its help.
local function entry(name, what, tag, help)
  local head = name .. "  " .. what
  local mark = "*" .. tag .. "*"
  local room = 78 - vim.fn.strdisplaywidth(head) - #mark
  local lines = room > 0 and { head .. (" "):rep(room) .. mark } or { (" "):rep(78 - #mark) .. mark, head }
  vim.list_extend(lines, wrapped(help, "    "))
  lines[#lines + 1] = ""
  return lines
end

local function options()
  local lines = {}
  for _, option in ipairs(require("superpower.base.options")) do
    local kind = option.enum and table.concat(vim.tbl_map(vim.inspect, option.enum), " | ") or option.type
    local default = vim.inspect(option.default, { newline = " ", indent = "" })
    vim.list_extend(
      lines,
      entry(option.path, ("(%s, default %s)"):format(kind, default), "superpower-option-" .. option.path, option.help)
    )
  end
  return lines
end

--- The table of options as JSON, one option a line, for the program `superpower`.
local function options_json()
  local function json(value)
    return (vim.json.encode(value):gsub("\\/", "/"))
  end
  local rows = {}
  for _, option in ipairs(require("superpower.base.options")) do
    local fields = { ('"path":%s'):format(json(option.path)), ('"type":%s'):format(json(option.type)) }
    for _, name in ipairs({ "enum", "items", "min", "engine" }) do
      if option[name] ~= nil then
        table.insert(fields, ('"%s":%s'):format(name, json(option[name])))
      end
    end
    local keys = vim.tbl_keys(option.item or {})
    table.sort(keys)
    local items = vim.tbl_map(function(key)
      return ("%s:%s"):format(json(key), json(option.item[key]))
    end, keys)
    if #items > 0 then
      table.insert(fields, ('"item":{%s}'):format(table.concat(items, ",")))
    end
    table.insert(rows, ("{%s}"):format(table.concat(fields, ",")))
  end
  return "[\n" .. table.concat(rows, ",\n") .. "\n]\n"
end

local function schema()
  local value, err = require("superpower.engine").call("schema")
  return assert(value, err and err.message)
end

local function codes()
  local severities = { "error", "warning", "information", "hint" }
  local lines = {}
  for _, code in ipairs(schema().codes) do
    local what = ("(%s)"):format(severities[code.severity])
    vim.list_extend(lines, entry(code.code, what, "superpower-code-" .. code.code, code.help))
  end
  return lines
end

--- The keys of a declaration, level by level.
local function keys()
  local lines, level = {}, nil
  for _, key in ipairs(schema().keys) do
    if key.level ~= level then
      level = key.level
      vim.list_extend(lines, { ("Keys of %s: ~"):format((level:gsub('"', "`"))), "" })
    end
    local what = ("(%s%s)"):format(key.takes, key.required and ", required" or "")
    local tag = ("superpower-key-%s-%s"):format(level:match("(%w+)%W*$"), key.name)
    vim.list_extend(lines, entry(key.name, what, tag, key.help))
    if key.words then
      table.remove(lines)
      for _, word in ipairs(key.words) do
        vim.list_extend(lines, wrapped(("`%s`: %s"):format(word.name, word.help), "    "))
      end
      lines[#lines + 1] = ""
    end
  end
  return lines
end

local parts = {
  ["superpower-options-list"] = options,
  ["superpower-codes-list"] = codes,
  ["superpower-keys-list"] = keys,
}

--- The page with its generated parts as the code has them.
local function rendered(lines)
  local result, inside, found = {}, false, {}
  for _, line in ipairs(lines) do
    local tag = line:match("%*(superpower%-[%w-]+%-list)%*%s*$")
    if line:match("^===+$") or line:match("^%-%-%-+$") then
      inside = false
    end
    if not inside then
      result[#result + 1] = line
    end
    if tag and parts[tag] then
      found[tag], inside = true, true
      result[#result + 1] = ""
      vim.list_extend(result, parts[tag]())
    end
  end
  for tag in pairs(parts) do
    if not found[tag] then
      error(("%s has no line with the tag *%s*"):format(page, tag), 0)
    end
  end
  return result
end

--- Writes a file, or says where it is not what the code says.
---@return integer status
local function put(path, text)
  local file = io.open(root .. "/" .. path)
  local old = file and file:read("*a") or ""
  if file then
    file:close()
  end
  if old == text then
    return 0
  elseif vim.tbl_contains(arg, "--check") then
    io.stderr:write(path, ' is not what the code says: run "make docs"\n', vim.diff(old, text), "\n")
    return 1
  end
  local out = assert(io.open(root .. "/" .. path, "w"))
  out:write(text)
  out:close()
  io.stderr:write("wrote ", path, "\n")
  return 0
end

local function run()
  local fresh = table.concat(rendered(vim.fn.readfile(page)), "\n") .. "\n"
  return math.max(put("schema/options.json", options_json()), put("doc/superpower.txt", fresh))
end

if not vim.uv.fs_stat(page) then
  io.stderr:write("skipped: there is no doc/superpower.txt\n")
  os.exit(0)
end
local fine, result = xpcall(run, function(message)
  return message
end)
if not fine then
  io.stderr:write(tostring(result), "\n")
end
-- The help tags must be unique too.
local tagged, problem = pcall(vim.cmd.helptags, { root .. "/doc" })
if not tagged then
  io.stderr:write(tostring(problem), "\n")
end
os.exit(fine and tagged and result or 1)
