-- scrub.lua - tracegrip scrub: a recording without what is to be kept secret.

local core = require "tracegrip.core"
local json = require "tracegrip.cli.json"
local main = require "tracegrip.cli.main"
local options = require "tracegrip.options"
local recording = require "tracegrip.cli.recording"
local units = require "tracegrip.cli.units"
core.own()

local hidden = {}
for _, option in ipairs(options.shared) do
  if option.name:find "^redact" then
    hidden[#hidden + 1] = option
  end
end

local scrub = {
  summary = "Copies a recording without what is to be kept secret.",
  description = "Writes the recording once more, without the values of "
    .. "parameters and keys that --redact and --redact-preset name, and "
    .. "without strings that hold one of them wherever they stand: results, "
    .. "errors, markers, keys, sources, the program's arguments. All else "
    .. "stays as it was, also in a recording that was cut off.",
  usage = "[options] FILE -o OUT --redact PATTERN",
  options = options.joined({
    {name = "output", flag = "-o", alias = "--output", metavar = "OUT",
     required = true, group = "Output", help = "Where to."},
    {name = "force", flag = "--force", value = true, group = "Output",
     help = "Replace what is at OUT."},
    {name = "json", flag = "--json", value = true, group = "Output",
     help = "For programs: {secrets, values}: texts that were found to be "
            .. "secret, and values that were taken out."},
  }, hidden)
}

function scrub.declare (parser)
  parser:argument("file"):description("The recording.")
end

-- What is at OUT is replaced at once, and by a whole recording only.
local function check_output (parsed)
  if core.samefile(parsed.file, parsed.output) then
    main.fail("%s is the recording itself (-o writes elsewhere)",
              parsed.output)
  elseif core.filetype(parsed.output) and not parsed.force then
    main.fail("%s is there already (--force replaces it)", parsed.output)
  end
end

function scrub.run (parsed)
  main.needs_file(parsed.output, "a recording")
  local hide = options.collect(hidden, parsed)
  if not hide.redactPreset and #(hide.redact or {}) == 0 then
    main.misuse("what is to be hidden? --redact PATTERN or --redact-preset "
                .. "secrets")
  end
  check_output(parsed)
  local part = ("%s.%d.part"):format(parsed.output, core.pid())
  local done, message = core.scrub(parsed.file, part, hide)
  if not done then
    main.fail("%s", message)
  end
  local ok, problem = os.rename(part, parsed.output)
  if not ok then
    os.remove(part)
    main.fail("%s", problem)
  end
  if parsed.json then
    io.write(json.object({secrets = done.secrets, values = done.values}), "\n")
  else
    main.note("%s taken out, of %s", units.several(done.values, "value"),
              units.several(done.secrets, "secret"))
  end
  recording.note_undecided(done.undecided)
  return 0
end

return scrub
