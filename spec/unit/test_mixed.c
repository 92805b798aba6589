/*
** test_mixed.c - C frames between Lua frames (spy/mixed.h): stacks written as
** text, outermost first. "main lua work" is C: lua is the interpreter's; "f"
** and "=work" are Lua's frames, the second of a C function.
*/
#include <stdio.h>
#include <string.h>

#include "spy/mixed.h"
#include "unit.h"

#define MOST 16u

/* A function by its name's first letters. */
static uint64_t code_of (const char *name, size_t n) {
  uint64_t code = 0;
  memcpy(&code, name, n < 8 ? n : 8);
  return code;
}

typedef struct Test {
  tg_CCode codes[MOST];
  tg_CStack c;
  tg_SeenFrame frames[MOST];
  char names[MOST][16];         /* of Lua's frames */
  tg_SpyStack k;
  tg_SpyMix m;
} Test;

static void take_c (Test *t, const char *text) {
  uint32_t n = 0;
  for (const char *p = text; *p != '\0'; p += *p == ' ') {
    size_t size = strcspn(p, " ");
    t->codes[n].start = code_of(p, size);
    t->codes[n].interpreter = size == 3 && memcmp(p, "lua", 3) == 0;
    t->codes[n].lua = size > 0 && p[size - 1] == '!';   /* Lua calls it */
    n++;
    p += size;
  }
  t->c.codes.list = t->codes;
  t->c.count = n;
  for (uint32_t i = 0; i < n; i++)
    t->c.list[i] = n - 1 - i;
}

/* '|' begins another coroutine. */
static void take_lua (Test *t, const char *text) {
  uint32_t n = 0;
  uint32_t first = 0;
  for (const char *p = text;; p += *p == ' ') {
    size_t size = strcspn(p, " ");
    if (*p == '|' || *p == '\0') {
      t->k.spans[t->k.nspans].first = first;
      t->k.spans[t->k.nspans++].count = n - first;
      first = n;
    }
    else {
      bool is_c = *p == '=';
      t->frames[n].is_c = is_c;
      t->frames[n].code = code_of(p + is_c, size - is_c);
      snprintf(t->names[n++], sizeof t->names[0], "%.*s", (int)size, p);
    }
    if (*p == '\0')
      break;
    p += size;
  }
  t->k.frames = t->frames;
  t->k.count = n;
  for (uint32_t s = 0; s < t->k.nspans; s++) {  /* innermost first */
    tg_SpySpan *span = &t->k.spans[s];
    for (uint32_t i = 0; i < span->count / 2; i++) {
      uint32_t a = span->first + i, b = span->first + span->count - 1 - i;
      tg_SeenFrame f = t->frames[a];
      char name[16];
      memcpy(name, t->names[a], sizeof name);
      t->frames[a] = t->frames[b];
      memcpy(t->names[a], t->names[b], sizeof name);
      t->frames[b] = f;
      memcpy(t->names[b], name, sizeof name);
    }
  }
}

static void write_step (const Test *t, const tg_SpyStep *step, char *to,
                        size_t room) {
  uint64_t code;
  switch (step->kind) {
    case TG_STEP_SPAN:
      snprintf(to, room, "| ");
      break;
    case TG_STEP_FRAME:
      snprintf(to, room, "%s ", t->names[step->at]);
      break;
    case TG_STEP_C:
      code = tg_cstack_code(&t->c, step->at)->start;
      snprintf(to, room, "(%.8s) ", (const char *)&code);
      break;
    default: tg_unreachable();
  }
}

/* What becomes of these two; "" if they do not go together. */
static void check (const char *c, const char *lua, bool whole, bool exact,
                   const char *mixed) {
  static Test t;
  char text[400] = "";
  t = (Test){.c.whole = whole};
  take_c(&t, c);
  take_lua(&t, lua);
  if (tg_spymix_make(&t.m, &t.k, &t.c, exact)) {
    for (uint32_t i = 0; i < t.m.n; i++) {
      size_t n = strlen(text);
      write_step(&t, &t.m.list[i], text + n, sizeof text - n);
    }
  }
  if (strcmp(text, mixed) != 0)
    printf("%s\n%s\n", mixed, text);
  UNIT_CHECK(strcmp(text, mixed) == 0);
  tg_spymix_free(&t.m);
}

static void what_a_c_function_calls_is_inside_of_it (void) {
  check("main lua work inner", "f =work", true, false,
        "| (main) f =work (inner) ");
  check("main lua work help lua", "f =work g", true, false,
        "| (main) f =work (help) g ");
  check("main lua alloc", "f g", true, false, "| (main) f g (alloc) ");
}

static void each_call_of_a_function_has_its_own_frame (void) {
  check("main lua pcall lua pcall x", "f =pcall g =pcall", true, false,
        "| (main) f =pcall g =pcall (x) ");
}

static void coroutines_follow_each_other (void) {
  check("main lua resume lua work", "f =resume | g =work", true, false,
        "| (main) f =resume | g =work ");
}

static void what_was_called_since_is_no_frame (void) {
  check("main lua", "f =work", true, false, "| (main) f ");
  check("main lua", "f =work", true, true, "| (main) f =work ");
}

static void a_function_without_a_c_frame_stays_where_lua_has_it (void) {
  check("main lua lua b", "f =tail g =b", true, false,
        "| (main) f =tail g =b ");
}

static void an_outer_part_that_is_not_known_costs_nothing_inside (void) {
  check("lua pcall x", "f =pcall g =pcall", false, false,
        "| f =pcall g =pcall (x) ");
}

static void strangers_are_not_mixed (void) {
  check("other thing", "f g", true, false, "");
  check("", "f", true, false, "");
}

static void a_call_that_the_look_has_not_is_told_of (void) {
  static Test t;
  t = (Test){.c.whole = true};
  take_c(&t, "main lua work!");
  take_lua(&t, "f g");
  UNIT_CHECK(tg_spymix_make(&t.m, &t.k, &t.c, false));
  UNIT_CHECK(t.m.caller == code_of("g", 1));
  UNIT_CHECK(t.m.callee == code_of("work!", 5));
  tg_spymix_free(&t.m);
}

int main (void) {
  UNIT_RUN(what_a_c_function_calls_is_inside_of_it);
  UNIT_RUN(each_call_of_a_function_has_its_own_frame);
  UNIT_RUN(coroutines_follow_each_other);
  UNIT_RUN(what_was_called_since_is_no_frame);
  UNIT_RUN(a_function_without_a_c_frame_stays_where_lua_has_it);
  UNIT_RUN(an_outer_part_that_is_not_known_costs_nothing_inside);
  UNIT_RUN(strangers_are_not_mixed);
  UNIT_RUN(a_call_that_the_look_has_not_is_told_of);
  return UNIT_END();
}
