-- cobertura.lua - coverage as Cobertura writes it, for services that read that
-- (GitLab, Jenkins, Azure): coverage-04.dtd.
--
--     coverage > sources, packages > package > classes > class
--                                       > methods > method > lines > line
--                                       > lines > line
--
-- A package is a folder and a class a file. No branches: their rate is 0 of
-- none.

local core = require "tracegrip.core"
local paths = require "tracegrip.coverage.paths"
core.own()

local lua = core.lua          -- the program may have changed its own libraries
local os, string, table, utf8 = lua.os, lua.string, lua.table, lua.utf8
local ipairs = lua.ipairs

local DTD = "http://cobertura.sourceforge.net/xml/coverage-04.dtd"

---------------------------------------------------------------------------
-- Text
---------------------------------------------------------------------------

local entities = {["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;",
                  ['"'] = "&quot;", ["\t"] = "&#9;", ["\n"] = "&#10;",
                  ["\r"] = "&#13;"}

-- Characters that XML 1.0 has (its section 2.2): others are U+FFFD.
local function is_character (code)
  return code >= 0x20 and code < 0xD800 or code > 0xDFFF and code < 0xFFFE
         or code > 0xFFFF and code <= 0x10FFFF or code == 9 or code == 10
         or code == 13
end

local function escaped (text)
  local out, at = {}, 1
  while at <= #text do
    local length = utf8.len(text, at, at, true)
                   and #string.match(text, utf8.charpattern, at) or 1
    local piece = string.sub(text, at, at + length - 1)
    local valid = utf8.len(piece)
    local good = valid and is_character(utf8.codepoint(piece))
    out[#out + 1] = good and (entities[piece] or piece) or "\u{FFFD}"
    at = at + length
  end
  return table.concat(out)
end

---------------------------------------------------------------------------
-- Elements
---------------------------------------------------------------------------

-- So much of what there is; of nothing all.
local function rate (part, whole)
  if whole == 0 then
    return "1"
  end
  return (string.gsub(string.format("%.4f", part / whole), "[^%d]", "."))
end

local function rates (totals)
  return string.format('line-rate="%s" branch-rate="0"',
                       rate(totals.reached, totals.lines))
end

local function put_lines (out, indent, lines)
  out('%s<lines>\n', indent)
  for _, pair in ipairs(lines) do
    out('%s  <line number="%d" hits="%d" branch="false"/>\n', indent,
        pair[1], pair[2])
  end
  out('%s</lines>\n', indent)
end

-- Its lines without those where it does no more than end.
local function put_method (out, one)
  local lines, reached = {}, 0
  for _, pair in ipairs(one.lines) do
    if not one.ends[pair[1]] then
      lines[#lines + 1] = pair
      reached = reached + (pair[2] > 0 and 1 or 0)
    end
  end
  out('            <method name="%s" signature="()" %s complexity="0">\n',
      escaped(one.name), rates {reached = reached, lines = #lines})
  put_lines(out, "              ", lines)
  out '            </method>\n'
end

local function put_class (out, file)
  out('        <class name="%s" filename="%s" %s complexity="0">\n',
      escaped(string.match(file.name, "[^/]*$")), escaped(file.name),
      rates(file.totals))
  out '          <methods>\n'
  for _, one in ipairs(file.functions) do
    put_method(out, one)
  end
  out '          </methods>\n'
  put_lines(out, "          ", file.lines)
  out '        </class>\n'
end

-- Folders in the order of their files, each with these and their totals.
local function packages_of (files)
  local list, by_name = {}, {}
  for _, file in ipairs(files) do
    local folder = string.find(file.name, "/", 1, true)
                   and paths.folder(file.name) or "."
    local package = by_name[folder]
    if not package then
      package = {name = folder, files = {}, lines = 0, reached = 0}
      by_name[folder], list[#list + 1] = package, package
    end
    table.insert(package.files, file)
    package.lines = package.lines + file.totals.lines
    package.reached = package.reached + file.totals.reached
  end
  return list
end

local function put_packages (out, files)
  out '  <packages>\n'
  for _, package in ipairs(packages_of(files)) do
    out('    <package name="%s" %s complexity="0">\n', escaped(package.name),
        rates(package))
    out '      <classes>\n'
    for _, file in ipairs(package.files) do
      put_class(out, file)
    end
    out '      </classes>\n    </package>\n'
  end
  out '  </packages>\n'
end

-- The text of the document.
return function (files, totals, plan)
  local parts = {}
  local function out (...)
    parts[#parts + 1] = string.format(...)
  end
  out '<?xml version="1.0" encoding="UTF-8"?>\n'
  out('<!DOCTYPE coverage SYSTEM "%s">\n', DTD)
  out('<coverage %s lines-covered="%d" lines-valid="%d" branches-covered="0" '
      .. 'branches-valid="0" complexity="0" version="tracegrip %s" '
      .. 'timestamp="%d000">\n', rates(totals), totals.reached, totals.lines,
      escaped(core.version), os.time())
  out('  <sources>\n    <source>%s</source>\n  </sources>\n',
      escaped(plan.directory))
  put_packages(out, files)
  out '</coverage>\n'
  return table.concat(parts)
end
