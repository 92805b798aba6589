-- Keys of a terminal, and what they do to the screen of tracegrip top.

local columns = require "tracegrip.cli.columns"
local keyboard = require "tracegrip.cli.keyboard"
local topkeys = require "tracegrip.cli.topkeys"
local topscreen = require "tracegrip.cli.topscreen"
local topview = require "tracegrip.cli.topview"

describe("a keyboard", function ()
  local function reads (expected, text, rest, all)
    local keys, left = keyboard.read(text, all)
    assert.same(expected, keys)
    assert.equal(rest or "", left)
  end

  it("gives characters as they are", function ()
    reads({"a", "/", " ", "é", "語", "\3", "\26"}, "a/ é語\3\26")
    reads({"enter", "enter", "backspace", "backspace"}, "\r\n\127\8")
  end)

  it("names keys, whichever terminal they are of", function ()
    reads({"up", "down", "right", "left"}, "\27[A\27OB\27[C\27OD")
    reads({"home", "home", "home", "end", "end", "end"},
          "\27[H\27[1~\27OH\27[F\27[4~\27[8~")
    reads({"pageup", "pagedown", "delete"}, "\27[5~\27[6~\27[3~")
    reads({"f1", "f1", "f1", "f3", "f4", "f9", "f10"},
          "\27OP\27[11~\27[[A\27OR\27[14~\27[20~\27[21~")
    reads({"up", "pagedown"}, "\27[1;5A\27[6;2~")       -- with Ctrl, Shift
  end)

  it("leaves out what is no key", function ()
    reads({"a", "b"}, "a\27[200~b")
    reads({"a", "b"}, "a\27[?62cb")
    reads({"a", "b"}, "a\255b")
  end)

  it("waits for the rest of a sequence", function ()
    reads({"a"}, "a\27", "\27")
    reads({}, "\27[", "\27[")
    reads({}, "\27[2", "\27[2")
    reads({}, "\231\139", "\231\139")
  end)

  it("knows a lone escape by what does not follow", function ()
    reads({"escape"}, "\27", "", true)
    reads({"escape", "q"}, "\27q")
    reads({"escape", "up"}, "\27\27[A")
  end)
end)

-- Forty functions, each with a tenth less than the one before.
local function sums (n)
  local functions = {}
  for i = 1, n do
    functions[i] = {name = "f" .. i, url = "日本語.lua", line = i, calls = i,
                    self_ms = 100 * 0.9 ^ i, total_ms = 100 - i}
  end
  return {samples = 1000, coroutines = 2, functions = functions,
          lines = {{name = "f1", url = "日本語.lua", line = 1, at = 7,
                    self_ms = 1, total_ms = 2}}}
end

local function shown (how)
  how = how or {}
  local view = topview.new {title = "prog.lua", calls = how.calls}
  view:meet {time_ms = 0, processor_ms = 0, threads = 1, notes = {}}
  view:take(sums(how.n or 40), 1000, 0, {
    time_ms = 1000, processor_ms = 160, threads = 3, notes = how.notes or {}
  })
  return topscreen.new(view, how.colors, how.ends)
end

local function plain (lines)
  local out = {}
  for i, line in ipairs(lines) do
    out[i] = line:gsub("\27%[[%d;]*m", "")
  end
  return out
end

local function press (screen, ...)
  local done = {}
  local acts = setmetatable({}, {__index = function (_, name)
    return function (...) done = {did = name, with = (...)} end
  end})
  for _, key in ipairs {...} do
    topkeys.press(screen, key, acts)
  end
  return done
end

-- The function in the row of the cursor.
local function here (screen)
  return screen.view.rows[screen.cursor].name
end

describe("a screen of top", function ()
  it("is as large as asked for, in all sizes", function ()
    for _, size in ipairs {{80, 24}, {40, 10}, {20, 5}, {160, 12}} do
      for _, keys in ipairs {{}, {"?"}, {"/", "f"}, {"p"}, {"\\", "f"}} do
        local screen = shown {notes = {("word "):rep(30)}, colors = true}
        screen:lines(size[1], size[2])
        press(screen, table.unpack(keys))
        local lines = plain(screen:lines(size[1], size[2]))
        assert.equal(size[2], #lines)
        for _, line in ipairs(lines) do
          assert.is_true(columns.width(line) <= size[1], line)
        end
      end
    end
  end)

  it("shows the share of a processor that the system tells", function ()
    local lines = plain(shown():lines(80, 24))
    assert.matches("^processor %[|||                 %] 16.0%%", lines[2])
    assert.equal("3 threads, 2 coroutines", lines[3])
  end)

  it("goes through rows that there is no room for", function ()
    local screen = shown()
    screen:lines(80, 24)
    assert.equal("f1", here(screen))
    press(screen, "down", "down")
    assert.equal("f3", here(screen))
    press(screen, "pagedown")
    assert.equal("f" .. 3 + screen.room, here(screen))
    press(screen, "end", "down")
    assert.equal("f40", here(screen))
    local lines = plain(screen:lines(80, 24))
    assert.matches("f40 +日本語.lua:40", lines[23])
    assert.matches("23%-40 of 40 $", lines[24])
    press(screen, "home", "up")
    assert.equal("f1", here(screen))
  end)

  it("keeps the cursor on a row when there are fewer", function ()
    local screen = shown()
    screen:lines(80, 24)
    press(screen, "end")
    screen.view:take(sums(3), 2000, 0)
    screen.view.whole = true
    screen.view:work_out()
    screen:lines(80, 24)
    assert.equal(3, screen.cursor)
  end)

  it("sorts by any column, and says by which", function ()
    local screen = shown {calls = true}
    local function heading ()
      return plain(screen:lines(100, 24))[5]
    end
    assert.matches("^↓self %% +total %%", heading())
    press(screen, ">")
    assert.matches("^self %% +↓total %%", heading())
    assert.equal("f1", here(screen))
    press(screen, "c")
    assert.matches("↓calls/s", heading())
    assert.equal("f40", here(screen))
    press(screen, "r")
    assert.matches("↑calls/s", heading())
    assert.equal("f1", here(screen))
    press(screen, ">")
    assert.matches("↑function", heading())
    press(screen, "<", "<", "<", "<")
    assert.matches("↑place", heading())
  end)

  it("finds what is searched for as it is typed", function ()
    local screen = shown()
    screen:lines(80, 24)
    press(screen, "/", "F", "3")
    assert.equal("f3", here(screen))
    press(screen, "enter", "n")
    assert.equal("f30", here(screen))
    press(screen, "N", "N")
    assert.equal("f39", here(screen))
    press(screen, "/", "x", "y")
    assert.equal("f39", here(screen))
    press(screen, "enter")
    assert.matches("nothing has 'xy'", plain(screen:lines(80, 24))[24])
    press(screen, "/", "語", "backspace", "escape")
    assert.equal("", screen.search)
  end)

  it("shows only what a filter leaves", function ()
    local screen = shown()
    press(screen, "\\", "f", "4", "q")
    assert.equal(0, #screen.view.rows)
    press(screen, "backspace", "enter")
    assert.equal(2, #screen.view.rows)        -- f4 and f40
    assert.matches("filter: f4",
                   table.concat(plain(screen:lines(80, 24)), "\n"))
    press(screen, "escape")
    assert.equal(40, #screen.view.rows)
  end)

  it("shows lines", function ()
    local screen = shown()
    press(screen, "l")
    screen.view.whole = true
    screen.view:work_out()
    assert.matches("f1 +日本語.lua:7",
                   table.concat(plain(screen:lines(80, 24)), "\n"))
  end)

  it("has help, of which all can be read on a small terminal", function ()
    local screen = shown()
    press(screen, "h")
    local lines = plain(screen:lines(40, 10))
    assert.matches("^tracegrip top: keys", lines[1])
    press(screen, "pagedown", "pagedown", "pagedown")
    lines = plain(screen:lines(40, 10))
    assert.matches("as the system", table.concat(lines, " "))
    press(screen, "q")
    assert.is_nil(screen.mode)
  end)

  it("asks before it ends a program, and ends none of others", function ()
    local screen = shown {ends = true}
    assert.is_nil(press(screen, "k", "n").did)
    local acts = press(screen, "k", "y")
    assert.equal("finish", acts.did)
    assert.equal("sigterm", acts.with)
    assert.equal("sigkill", press(screen, "f9", "9").with)
    assert.is_nil(press(shown(), "k", "y").did)
  end)

  it("is left by q and F10, interrupted, and stopped", function ()
    assert.equal("leave", press(shown(), "q").did)
    assert.equal("leave", press(shown(), "f10").did)
    assert.equal("interrupt", press(shown(), "/", "\3").did)
    assert.equal("suspend", press(shown(), "\26").did)
  end)

  it("has no colours that are not wanted", function ()
    local text = table.concat(shown():lines(80, 24))
    assert.not_matches("\27%[[%d;]*3%dm", text)
    assert.matches("\27%[30;42m",
                   table.concat(shown({colors = true}):lines(80, 24)))
  end)
end)
