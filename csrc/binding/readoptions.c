/*
** readoptions.c - a table of options from Lua, one reader for each option, one
** table of all. On any thread, with that thread's state. What is wrong raises,
** and the message names the option, what is allowed and what was given; want of
** memory raises too.
**
** The command line, the server and programs all come here: so an option means
** the same for each of them, and a mistake is told in the same words. Tables
** are read raw: a metatable of the program's is not asked.
*/
#include <string.h>

#include "binding/readoptions.h"
#include "base/alloc.h"
#include "binding/optionvalue.h"
#include "binding/typelist.h"
#include "options/redactpreset.h"
#include "text/anycase.h"

/* What an option is for. */
enum {
  RECORD = 1u << 0,     /* for starting a trace */
  READ = 1u << 1,       /* for reading one */
  FILED = 1u << 2       /* for one that is recorded on a file */
};

/* What each reader of an option is given. A reader raises, or leaves the stack
   as it was. */
typedef struct Reading {
  lua_State *L;
  unsigned purpose;     /* RECORD, RECORD and FILED, or READ */
  const char *const *extra;
  tg_Options *o;
  tg_Filter *filter;    /* if it is READ: 'o' is inside */
  const char *name;     /* of the option being read; its value is on top */
  bool typed;           /* trace types were given */
  bool memory;          /* those of memory are wanted beside them */
  bool counts;          /* 'calls' was given */
  bool any_case;        /* patterns of 'redact' find letters of either case */
  const char *preset;   /* of 'redact'; borrows from the options; or NULL */
} Reading;

static int fail (const Reading *r, const char *allowed) {
  return tg_optionvalue_fail(r->L, r->name, allowed);
}

static uint64_t read_count (const Reading *r, uint64_t min, uint64_t max,
                            const char *allowed) {
  return tg_optionvalue_count(r->L, r->name, min, max, allowed);
}

/* ---- the options ----
   One reader each: what is wrong with an option is said in its own words. The
   value is on top of the stack, and stays there. */

/* An empty list is fine: then packets have no fields but those that all
   have. */
static void opt_trace (Reading *r) {
  uint32_t types = tg_typelist_read(r->L, lua_gettop(r->L));
  r->typed = types != TG_TYPE_SAMPLES;
  if ((types & TG_TYPE_SAMPLES) && r->o->sample == 0)
    r->o->sample = TG_SAMPLE_DEFAULT;
  r->o->types = types & ~TG_TYPE_SAMPLES;
}

static void opt_sample (Reading *r) {
  r->o->sample = (uint32_t)read_count(r, 1, TG_SAMPLE_MAX,
                                      "a number of samples a second, 1 to "
                                      "10000,");
}

/* Beside a rate, or with the usual one. */
static void opt_wall (Reading *r) {
  if (!lua_isboolean(r->L, -1))
    fail(r, "a boolean");
  r->o->wall = lua_toboolean(r->L, -1);
}

static void opt_windows (Reading *r) {
  r->o->windows = (uint32_t)read_count(r, 0, TG_WINDOWS_MAX,
                                       "percent of the time, 0 to 50,");
}

/* Windows are for ticks, in a trace of calls. */
static void settle_windows (const Reading *r) {
  tg_Options *o = r->o;
  if (o->windows == 0)
    return;
  if (o->wall)
    luaL_error(r->L, "option 'windows': not with 'wall'");
  if (o->on.count > 0)
    luaL_error(r->L, "option 'windows': not with 'on', which must see all "
               "calls");
  if (o->types & TG_TYPE_ALLOCATIONS)
    luaL_error(r->L, "option 'windows': not with 'allocations', which are told "
               "with calls");
  if (o->sample == 0)
    o->sample = TG_SAMPLE_WINDOWS;
}

/* Who asks for samples, and for nothing of calls, gets no calls; but to wait
   for one ('on') all must be looked at, and windows are in calls. What there is
   to tell of a sampled frame is what the defaults tell of any. */
static void settle_samples (const Reading *r) {
  tg_Options *o = r->o;
  if (o->wall && o->sample == 0)
    o->sample = TG_SAMPLE_DEFAULT;
  if (o->sample == 0 || r->typed || o->on.count > 0 || o->windows > 0)
    return;
  o->with_calls = false;
  o->types = TG_TYPES_DEFAULT & ~TG_TYPES_VALUES;
}

/* Beside whatever else is asked for, by types or without any. */
static void opt_memory (Reading *r) {
  if (!lua_isboolean(r->L, -1))
    fail(r, "a boolean");
  r->memory = lua_toboolean(r->L, -1);
}

/* Without 'memory' it says that, too. */
static void opt_memory_every (Reading *r) {
  r->o->memory_every = read_count(r, 1, TG_EVERY_MAX,
                                  "a number of bytes, 1 to 1073741824,");
}

static void opt_include (Reading *r) {
  tg_optionvalue_patterns(r->L, r->name, &r->o->include);
}

static void opt_exclude (Reading *r) {
  tg_optionvalue_patterns(r->L, r->name, &r->o->exclude);
}

static void opt_redact (Reading *r) {
  tg_optionvalue_patterns(r->L, r->name, &r->o->redact);
}

/* Its patterns come last, when those of 'redact' have been read. */
static void opt_redact_preset (Reading *r) {
  r->preset = (lua_type(r->L, -1) == LUA_TSTRING) ? lua_tostring(r->L, -1)
                                                  : NULL;
  if (r->preset == NULL || !tg_redactpreset_is(r->preset))
    fail(r, "\"secrets\"");
}

static void opt_redact_ignore_case (Reading *r) {
  if (!lua_isboolean(r->L, -1))
    fail(r, "a boolean");
  r->any_case = lua_toboolean(r->L, -1);
}

/* Only true and false: 0 is true in Lua, and "no" as well. */
static void opt_c (Reading *r) {
  if (!lua_isboolean(r->L, -1))
    fail(r, "a boolean");
  r->o->c = lua_toboolean(r->L, -1);
}

/* A depth of 0 would be a trace of nothing. */
static void opt_max_depth (Reading *r) {
  r->o->max_depth = (uint32_t)read_count(r, 1, TG_NOLIMIT - 1,
                                         "a positive integer");
}

static void opt_min_duration (Reading *r) {
  r->o->min_duration_ns = tg_optionvalue_ms(r->L, r->name);
}

/* The four limits of values: what the hook looks at, or a reader shows. */
static void opt_value_depth (Reading *r) {
  r->o->limits.depth = tg_optionvalue_limit(r->L, r->name);
}

static void opt_value_properties (Reading *r) {
  r->o->limits.properties = tg_optionvalue_limit(r->L, r->name);
}

static void opt_value_string (Reading *r) {
  r->o->limits.string = tg_optionvalue_limit(r->L, r->name);
}

static void opt_value_objects (Reading *r) {
  r->o->limits.objects = tg_optionvalue_limit(r->L, r->name);
}

/* No less than a page; up to a size that no machine has, so that positions
   added to it do not overflow. */
static void opt_buffer (Reading *r) {
  r->o->buffer = read_count(r, TG_BUFFER_MIN, UINT64_C(1) << 50,
                            "a number of bytes, at least 4096,");
}

/* What a full buffer does to the trace. In the order of tg_Overflow. */
static void opt_overflow (Reading *r) {
  static const char *const names[] = {"stop", "ring", "wait"};
  const char *s = (lua_type(r->L, -1) == LUA_TSTRING)
                  ? lua_tostring(r->L, -1) : "";
  for (int i = 0; i < 3; i++) {
    if (strcmp(s, names[i]) == 0) {
      r->o->overflow = (tg_Overflow)i;
      return;
    }
  }
  fail(r, "\"stop\", \"ring\" or \"wait\"");
}

static void opt_max_events (Reading *r) {
  r->o->max_events = read_count(r, 1, UINT64_C(1) << 60,
                                "a positive integer");
}

static void opt_duration (Reading *r) {
  r->o->duration_ns = tg_optionvalue_ms(r->L, r->name);
}

/* Room for the header, for definitions and for some blocks of events. */
static void opt_max_size (Reading *r) {
  r->o->max_size = read_count(r, TG_SIZE_MIN, UINT64_C(1) << 50,
                              "a number of bytes, at least 1048576,");
}

static void opt_compress (Reading *r) {
  const char *s = (lua_type(r->L, -1) == LUA_TSTRING)
                  ? lua_tostring(r->L, -1) : "";
  r->o->compressed = strcmp(s, "zstd") == 0;
  if (!r->o->compressed && strcmp(s, "none") != 0)
    fail(r, "\"zstd\" or \"none\"");
}

static void opt_on (Reading *r) {
  tg_optionvalue_patterns(r->L, r->name, &r->o->on);
}

/* No limit is 0. What is counted must be said by 'on', which may be read after
   this: that is looked at in the end (tg_readoptions). */
static void opt_calls (Reading *r) {
  static const char allowed[] = "a positive integer or \"all\"";
  bool all = lua_type(r->L, -1) == LUA_TSTRING
             && strcmp(lua_tostring(r->L, -1), "all") == 0;
  r->o->calls = all ? 0 : read_count(r, 1, UINT64_C(1) << 60, allowed);
  r->counts = true;
}

static void opt_traceparent (Reading *r) {
  tg_optionvalue_parent(r->L, -1, &r->o->parent);
}

/* Threads are numbered from 1, the main coroutine. */
static void opt_thread (Reading *r) {
  r->filter->thread = (tg_ThreadId)read_count(r, 1, UINT32_MAX,
                                              "a positive integer");
}

/* Milliseconds as packets tell time, from the stream's beginning. */
static void opt_from (Reading *r) {
  r->filter->from_ns = tg_optionvalue_ms(r->L, r->name);
}

static void opt_to (Reading *r) {
  r->filter->to_ns = tg_optionvalue_ms(r->L, r->name);
}

static void opt_raw (Reading *r) {
  if (!lua_isboolean(r->L, -1))
    fail(r, "a boolean");
  r->filter->times = lua_toboolean(r->L, -1) ? TG_TIMES_RAW : TG_TIMES_TRUE;
}

/* All of them, in the order in which messages list them: what is seen of a
   trace, what of values, then what recording alone has, and reading alone. */
static const struct {
  const char *name;
  void (*read) (Reading *r);
  unsigned purposes;
} options[] = {
  {"trace", opt_trace, RECORD | READ},
  {"sample", opt_sample, RECORD},
  {"wall", opt_wall, RECORD},
  {"windows", opt_windows, RECORD},
  {"memory", opt_memory, RECORD},
  {"memoryEvery", opt_memory_every, RECORD},
  {"include", opt_include, RECORD | READ},
  {"exclude", opt_exclude, RECORD | READ},
  {"c", opt_c, RECORD | READ},
  {"maxDepth", opt_max_depth, RECORD | READ},
  {"minDuration", opt_min_duration, RECORD | READ},
  {"valueDepth", opt_value_depth, RECORD | READ},
  {"valueProperties", opt_value_properties, RECORD | READ},
  {"valueString", opt_value_string, RECORD | READ},
  {"valueObjects", opt_value_objects, RECORD | READ},
  {"redact", opt_redact, RECORD | READ},
  {"redactPreset", opt_redact_preset, RECORD | READ},
  {"redactIgnoreCase", opt_redact_ignore_case, RECORD | READ},
  {"buffer", opt_buffer, RECORD},
  {"overflow", opt_overflow, RECORD},
  {"maxEvents", opt_max_events, RECORD},
  {"duration", opt_duration, RECORD},
  {"maxSize", opt_max_size, FILED},
  {"compress", opt_compress, FILED},
  {"on", opt_on, RECORD},
  {"calls", opt_calls, RECORD},
  {"traceparent", opt_traceparent, RECORD},
  {"thread", opt_thread, READ},
  {"from", opt_from, READ},
  {"to", opt_to, READ},
  {"raw", opt_raw, READ}
};

#define NOPTIONS (sizeof options / sizeof options[0])

/* Keys that the caller reads by itself: an export has some, a start has the
   trace's name. NULL is a list of none. */
static bool is_extra (const char *const *extra, const char *name) {
  for (; extra != NULL && *extra != NULL; extra++) {
    if (strcmp(*extra, name) == 0)
      return true;
  }
  return false;
}

/* Raises an error that names the key below the top and lists the known. All
   that is allowed here is listed, so the message is the reference. */
static int unknown_option (const Reading *r) {
  lua_State *L = r->L;
  luaL_Buffer b;
  const char *name = luaL_tolstring(L, -2, NULL);
  const char *between = "";
  luaL_buffinit(L, &b);
  for (size_t i = 0; i < NOPTIONS; i++) {
    if ((options[i].purposes & r->purpose) == 0)
      continue;
    luaL_addstring(&b, between);
    luaL_addstring(&b, options[i].name);
    between = ", ";
  }
  for (const char *const *e = r->extra; e != NULL && *e != NULL; e++) {
    luaL_addstring(&b, between);
    luaL_addstring(&b, *e);
  }
  luaL_pushresult(&b);
  return luaL_error(L, "unknown option '%s' (known: %s)", name,
                    lua_tostring(L, -1));
}

/* Key and value are on top of the stack. A linear search: a dozen comparisons
   of short strings, once for each option that is given. */
static void read_one (Reading *r) {
  tg_assert((r->purpose == READ) == (r->filter != NULL));
  if (lua_type(r->L, -2) != LUA_TSTRING)
    unknown_option(r);
  r->name = lua_tostring(r->L, -2);
  for (size_t i = 0; i < NOPTIONS; i++) {
    if ((options[i].purposes & r->purpose) != 0
        && strcmp(options[i].name, r->name) == 0) {
      options[i].read(r);
      return;
    }
  }
  if (!is_extra(r->extra, r->name))
    unknown_option(r);
}

/* lua_next does not call __pairs, and the table is not changed while it is
   gone through, since nothing here calls the program. */
static void read_all (Reading *r, int index) {
  lua_State *L = r->L;
  if (lua_isnoneornil(L, index))
    return;
  luaL_checktype(L, index, LUA_TTABLE);
  index = lua_absindex(L, index);
  luaL_checkstack(L, 20, NULL);
  lua_pushnil(L);
  while (lua_next(L, index)) {
    TG_STACK_GUARD(L);
    read_one(r);
    TG_STACK_CHECK(L);
    lua_pop(L, 1);
  }
}

/* When all that may be in the table has been read. Whoever gave them, by now
   they are the user's; who knows better says so (clientchannel.c). */
static void settle_patterns (const Reading *r) {
  tg_Patterns *list = &r->o->redact;
  if ((r->any_case && !tg_anycase_patterns(list))
      || (r->preset != NULL && !tg_redactpreset_add(list, r->preset)))
    tg_optionvalue_nomemory(r->L);
  tg_options_bound(r->o, TG_BOUND_OWN);
}

/* The options are their owner's from the first one on, so that he frees what
   was copied when a later one raises. */
static void read_start (Reading *r, int index) {
  tg_options_init(r->o);
  read_all(r, index);
  settle_samples(r);
  if (r->memory || r->o->memory_every > 0)
    r->o->types |= TG_TYPE_MEMORY | TG_TYPE_ALLOCATIONS;
  settle_windows(r);
  settle_patterns(r);
  if (r->counts && r->o->on.count == 0)
    luaL_error(r->L, "option 'calls': counts calls of what the option 'on' "
                     "says, which is missing");
}

void tg_readoptions (lua_State *L, int index, const char *const *extra,
                     tg_Options *o) {
  Reading r = {.L = L, .purpose = RECORD, .extra = extra, .o = o};
  read_start(&r, index);
}

void tg_readoptions_file (lua_State *L, int index, tg_Options *o) {
  Reading r = {.L = L, .purpose = RECORD | FILED, .o = o};
  read_start(&r, index);
}

/* The same for reading: what narrows a trace, and not what starts one. */
void tg_readoptions_filter (lua_State *L, int index, const char *const *extra,
                            tg_Filter *f) {
  Reading r = {
    .L = L, .purpose = READ, .extra = extra, .o = &f->options, .filter = f
  };
  tg_filter_init(f);
  read_all(&r, index);
  settle_patterns(&r);
}

void tg_readoptions_patterns (lua_State *L, const char *name,
                              tg_Patterns *list) {
  tg_optionvalue_patterns(L, name, list);
  tg_patterns_bound(list, TG_BOUND_OWN);
}

/* Also of options that a mistake has left half read. */
static int options__gc (lua_State *L) {
  tg_options_free(lua_touserdata(L, 1));
  return 0;
}

/* In a userdata, so that an error before the options are used frees them. */
tg_Options *tg_readoptions_new (lua_State *L) {
  tg_Options *o = lx_owner(L, sizeof *o, 0, "tracegrip.options", options__gc);
  tg_options_init(o);
  return o;
}
