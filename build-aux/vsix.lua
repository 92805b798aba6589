-- vsix.lua - packs the extension of editors/vscode as VS Code installs it: a
-- zip file with a manifest, whose files are stored as they are.
--
--   lua5.4 build-aux/vsix.lua DIRECTORY LICENSE OUT.vsix
--
-- The same files give the same bytes: times are not told. Failure: an error,
-- and no file.

local cjson = require "cjson"

local directory, license, out = ...

local function read (path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

---------------------------------------------------------------------------
-- Zip
---------------------------------------------------------------------------

local crcs = {}
for i = 0, 255 do
  local crc = i
  for _ = 1, 8 do
    crc = crc >> 1 ~ (crc & 1 == 1 and 0xedb88320 or 0)
  end
  crcs[i] = crc
end

local function crc_of (text)
  local crc = 0xffffffff
  for i = 1, #text do
    crc = crc >> 8 ~ crcs[(crc ~ text:byte(i)) & 0xff]
  end
  return crc ~ 0xffffffff
end

local VERSION, STORED, NO_TIME, NEW_YEAR_1980 = 20, 0, 0, 1 << 5 | 1

-- What both headers of a file have.
local function description (name, text)
  return string.pack("<I2I2I2I2I4I4I4I2I2", 0, STORED, NO_TIME, NEW_YEAR_1980,
                     crc_of(text), #text, #text, #name, 0)
end

-- files: list of {name, text}.
local function zip (files)
  local parts, central, at = {}, {}, 0
  for i, file in ipairs(files) do
    local name, text = file[1], file[2]
    local head = description(name, text)
    parts[i] = "PK\3\4" .. string.pack("<I2", VERSION) .. head .. name .. text
    central[i] = "PK\1\2" .. string.pack("<I2I2", VERSION, VERSION) .. head
                 .. string.pack("<I2I2I2I4I4", 0, 0, 0, 0, at) .. name
    at = at + #parts[i]
  end
  local list = table.concat(central)
  return table.concat(parts) .. list .. "PK\5\6"
         .. string.pack("<I2I2I2I2I4I4I2", 0, 0, #files, #files, #list, at, 0)
end

---------------------------------------------------------------------------
-- The manifest
---------------------------------------------------------------------------

local TYPES = [[
<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension=".json" ContentType="application/json"/>
<Default Extension=".js" ContentType="application/javascript"/>
<Default Extension=".md" ContentType="text/markdown"/>
<Default Extension=".txt" ContentType="text/plain"/>
<Default Extension=".vsixmanifest" ContentType="text/xml"/>
</Types>
]]

local MANIFEST = [[
<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0"
  xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata>
<Identity Language="en-US" Id="%s" Version="%s" Publisher="%s"/>
<DisplayName>%s</DisplayName>
<Description xml:space="preserve">%s</Description>
<Categories>%s</Categories>
<Properties>
<Property Id="Microsoft.VisualStudio.Code.Engine" Value="%s"/>
</Properties>
<License>extension/LICENSE.txt</License>
</Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/>
</Installation>
<Dependencies/>
<Assets>
<Asset Type="Microsoft.VisualStudio.Code.Manifest"
  Path="extension/package.json" Addressable="true"/>
<Asset Type="Microsoft.VisualStudio.Services.Content.Details"
  Path="extension/README.md" Addressable="true"/>
</Assets>
</PackageManifest>
]]

local escapes = {["&"] = "&amp;", ["<"] = "&lt;", ['"'] = "&quot;"}

local function manifest (about)
  local words = {about.name, about.version, about.publisher, about.displayName,
                 about.description, table.concat(about.categories, ","),
                 about.engines.vscode}
  for i, word in ipairs(words) do
    words[i] = word:gsub('[&<"]', escapes)
  end
  return MANIFEST:format(table.unpack(words))
end

local package_json = read(directory .. "/package.json")
local bytes = zip {
  {"extension.vsixmanifest", manifest(cjson.decode(package_json))},
  {"[Content_Types].xml", TYPES},
  {"extension/package.json", package_json},
  {"extension/extension.js", read(directory .. "/extension.js")},
  {"extension/README.md", read(directory .. "/README.md")},
  {"extension/LICENSE.txt", read(license)},
}

local file = assert(io.open(out, "wb"))
assert(file:write(bytes))
assert(file:close())
print(out)
