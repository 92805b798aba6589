-- trace:log: what was recorded, as the live log would have shown it.

local run = require "spec.support.run"

local work = [[
  local function gen () coroutine.yield({1, "two"}) return 3 end
  local function fail () error("no", 0) end
  local function fib (n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
  local wrap, pcall, print = coroutine.wrap, pcall, print
  local function main ()
    local co = wrap(gen)
    co() co()
    pcall(fail)
    fib(5)
  end
]]

-- The two files are one.
local function alike (options, style, filter)
  local result = run.code(([[
    local tracegrip, core = require "tracegrip", require "tracegrip.core"
    local function style (path)
      local s = {%s}
      s.path = path
      return s
    end
    %s
    local live = core.log({%s}, style "live")
    local trace = tracegrip.start {%s}
    main()
    trace:stop()
    live:stop()
    print(trace:log(style "kept", {%s}))
    local function text (path)
      local file = assert(io.open(path))
      local content = file:read "a"
      file:close()
      return content
    end
    print(#text "live" > 200, text "live" == text "kept")
  ]]):format(style or "", work, options, filter and "" or options,
             filter or ""))
  assert.equal("", result.stderr)
  assert.equal("true\ntrue\ttrue\n", result.stdout)
end

local function prints (program, expected)
  local result = run.code([[local tracegrip = require "tracegrip"
    local trace = tracegrip.start()
    local function f () end
    f()
    trace:stop()
    local function try (...)
      local result = table.pack(pcall(trace.log, trace, ...))
      print(table.unpack(result, 1, result.n))
    end
  ]] .. program)
  assert.equal(expected, result.stdout)
  return result
end

describe("trace:log", function ()
  it("is what the live log was", function ()
    alike("")
  end)

  it("of a trace with options", function ()
    alike([[c = false, maxDepth = 2]])
  end)

  it("through a filter", function ()
    alike([[c = false, exclude = "fib", valueDepth = 0]], "",
          [[c = false, exclude = "fib", valueDepth = 0]])
  end)

  it("in a style", function ()
    alike("", "color = true, times = false, summary = false, width = 60")
  end)

  it("leaves out short calls", function ()
    alike("minDuration = 0.0001", "", "minDuration = 0.0001")
  end)

  it("goes to a descriptor, and leaves it open", function ()
    prints([[
      try({fd = 1, times = false, summary = false, width = 40})
      try({fd = 1, times = false, summary = false, width = 40})
    ]], ("f()                        program.lua:4\n└\ntrue\ttrue\n")
        :rep(2))
  end)

  it("goes to standard error by itself", function ()
    local result = prints("try()", "true\ttrue\n")
    assert.matches("f%(%)", result.stderr)
  end)

  it("says when it cannot be written", function ()
    prints([[
      try {path = "nowhere/log"}
      try {path = "/dev/full"}
    ]], "true\tnil\tnowhere/log: No such file or directory\t2\n"
        .. "true\tnil\t/dev/full: No space left on device\t28\n")
  end)

  it("refuses a style that it does not know", function ()
    prints([[
      try {colour = true}
      try {width = "wide"}
      try {limit = 0}
      try {limit = 1.5}
      try(5)
    ]], "false\tunknown style 'colour' (known: path, fd, color, times, "
        .. "summary, width, live, limit)\n"
        .. "false\tstyle 'width': a number expected, got wide\n"
        .. "false\tstyle 'limit': a whole number from 1 on expected, got 0\n"
        .. "false\tstyle 'limit': a whole number from 1 on expected, got 1.5\n"
        .. "false\tbad argument #2 to '?' (table expected, got number)\n")
  end)
end)
