/*
** tests.h - tests: conditions of breakpoints that the hook asks itself, before
** the debugger's Lua is called. Of a line that is reached a million times the
** usual answer is no.
**
** A test is a function of Lua of ours, made of the condition's text
** (lua/tracegrip/inspect/tests.lua), in which what the program has is given by
** arguments: local variables, upvalues and fields, by raw access. Where an
** operator could call a metamethod, where a name is no local variable and no
** upvalue, and where the test fails, there is no answer, and the condition is
** asked as others are: so nothing of the program's runs here, and whoever stops
** the program has asked in full.
**
** Used on the thread that runs the state, in the hook. Nothing here raises, but
** what is said so.
*/
#ifndef TG_TESTS_H
#define TG_TESTS_H

#include <lua.h>

#include "base/base.h"

typedef struct tg_Tests {
  lua_State *work;        /* ours, anchored: tests run on it; NULL: none yet */
} tg_Tests;

/* Lua: tests(source, by_place): those of a source from now on; source is its
   number, by_place[n] a list of tests, of which each has to say no for the
   program not to stop there. A place is a line, or, where a function begins,
   minus the line of its definition. A test is {function, operators, path...};
   a path is a name, keys and false. operators: bits of tg_TestOperators.
   Raises. */
int tg_tests_set (tg_Tests *t, lua_State *L);

/* What a test does with what it is given. */
typedef enum tg_TestOperators {
  TG_TEST_COMPUTES = 1u << 0,   /* numbers, which strings may be taken for */
  TG_TEST_READS = 1u << 1       /* order, length, concatenation */
} tg_TestOperators;

/* Whether there are tests of that place of the source, and all say no, in the
   frame that runs. */
bool tg_tests_refuse (const tg_Tests *t, lua_State *L, lua_Debug *ar,
                      int source, int place);                  /* [-0, +0, -] */

void tg_tests_clear (tg_Tests *t, lua_State *L);               /* [-0, +0, -] */

#endif
