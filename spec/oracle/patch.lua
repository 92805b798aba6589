-- patch.lua SRC - makes the interpreter whose source is in the directory SRC
-- one that logs its frames (logged.h, which is copied there by who calls this).
-- Each place is named by the line that is there in all releases from 5.4.4 on;
-- a release that does not have it is refused.

local directory = arg[1]

local function read (name)
  local file <close> = assert(io.open(directory .. "/" .. name))
  return file:read "a"
end

local function write (name, text)
  local file <close> = assert(io.open(directory .. "/" .. name, "w"))
  assert(file:write(text))
end

-- Puts `added` before or after each line that contains `line`, of which there
-- are `times`.
local function put (name, line, times, before, after)
  local n = 0
  local text = read(name):gsub("([^\n]*)\n", function (found)
    if found:find(line, 1, true) then
      n = n + 1
      return (before and before .. "\n" or "") .. found .. "\n"
             .. (after and after .. "\n" or "")
    end
  end)
  if n ~= times then
    error(("%s: %d lines with '%s', not %d"):format(name, n, line, times))
  end
  write(name, text)
end

local relative = read "lobject.h":find "StkIdRel"
local flags = read "lobject.h":find "is_vararg"
              and "((p)->is_vararg)"
              or "((p)->flag & (PF_VAHID | PF_VATAB))"
local include = (relative and "#define ORACLE_RELATIVE\n" or "")
                .. "#define ORACLE_VARARG(p) " .. flags .. "\n"
                .. '#include "logged.h"'

put("ldo.c", '#include "lzio.h"', 1, nil, include)
put("lstate.c", '#include "ltm.h"', 1, nil,
    "extern void oracle_none (lua_State *L);\n"
    .. "extern void oracle_end (lua_State *L);")

-- A C function; a Lua function; one in the place of its caller.
put("ldo.c", "if (l_unlikely(L->hookmask & LUA_MASKCALL)) {", 1,
    "  oracle_enter(L, ci, 'E');")
local text = read "ldo.c"
local n
text, n = text:gsub("(\n[^\n]*complete missing arguments %*/\n"
                    .. "[^\n]*lua_assert[^\n]*\n)(      return ci;)",
                    "%1      oracle_enter(L, ci, 'E');\n%2")
assert(n == 1, "luaD_precall is another")
write("ldo.c", text)
put("ldo.c", "/* set top */", 1, nil, "      oracle_enter(L, ci, 'T');")

-- Returns; those of no and of one result go a way of their own without a hook.
text, n = read "ldo.c":gsub("(\nvoid luaD_poscall %([^\n]*{\n)",
                            "%1  oracle_leave(L, ci, nres);\n")
assert(n == 1, "luaD_poscall is another")
write("ldo.c", text)
text, n = read "lvm.c":gsub("if %(l_unlikely%(L%->hookmask%)%) {", "if (1) {")
assert(n == 2, "OP_RETURN0 and OP_RETURN1 are others")
write("lvm.c", text)

-- Errors, coroutines.
put("ldo.c", "L->ci = old_ci;", 2, nil, "    oracle_note(L, old_ci, 'U');")
put("ldo.c", "go down to recovery functions", 1, nil,
    "    oracle_note(L, ci, 'U');")
put("ldo.c", "unrecoverable error */", 1, nil,
    "    oracle_note(L, NULL, 'D');")
put("ldo.c", "status = luaD_rawrunprotected(L, resume, &nargs);", 1,
    "  if (L->status == LUA_YIELD) oracle_note(L, NULL, 'R');")
put("ldo.c", "    luaD_throw(L, LUA_YIELD);", 1,
    "    oracle_note(L, NULL, 'Y');")
put("lstate.c", "CallInfo *ci = L->ci = &L->base_ci;", 1, nil,
    "  oracle_none(L);")
put("lstate.c", "/* closing a fully built state */", 1, nil,
    "    oracle_end(L);")
put("lstate.c", "preinit_thread(L1, g);", 1, nil,
    "  oracle_none(L1);")
