/* definitions.c - see definitions.h. */
#include "dump/definitions.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "outside/process.h"
#include "text/fileio.h"

#define SOURCE_MOST ((size_t)16 << 20)
#define TITLE 60                /* LUA_IDSIZE */

bool tg_described_open (tg_Described *d, tg_Target *t,
                        tg_Functions *functions) {
  *d = (tg_Described){.target = t, .functions = functions};
  if (functions == NULL)
    d->functions = d->own = tg_functions_new();
  if (t->memory.core == NULL)
    tg_process_link(t->memory.task, "cwd", d->directory,
                    sizeof d->directory);
  tg_described_reload(d);
  return d->functions != NULL;
}

void tg_described_reload (tg_Described *d) {
  tg_Target *t = d->target;
  for (uint32_t i = 0; i < t->found.nstates; i++)
    tg_loadednames_add(&d->loaded, &t->sight, t->found.shareds[i]);
}

void tg_described_close (tg_Described *d) {
  if (d->own != NULL)
    tg_functions_free(d->own);
  for (uint32_t i = 0; i < d->nfiles; i++)
    tg_declarations_free(&d->files[i]);
  tg_free(d->files);
  tg_free(d->protos);
  tg_intmap_free(&d->ids);
  tg_intmap_free(&d->sources);
  tg_loadednames_free(&d->loaded);
  tg_buf_free(&d->text);
  *d = (tg_Described){0};
}

/*
** {==================================================================
** Sources
** ===================================================================
*/

/* Names are relative to the program's directory, as it is now, and paths to its
   root. */
static void read_file (tg_Described *d, const char *name, tg_Buf *text) {
  char path[12800];
  const char *between = (*name == '/') ? "" : "/";
  if (*name != '/' && d->directory[0] == '\0')
    return;
  int n = snprintf(path, sizeof path, "%s%s%s%s", d->target->root,
                   (*name == '/') ? "" : d->directory, between, name);
  if (n > 0 && (size_t)n < sizeof path)
    tg_fileio_text(path, SOURCE_MOST, text);
}

static void scan (tg_Described *d, uint64_t source, const char *title,
                  tg_Declarations *to) {
  tg_Buf text = {0};
  uint64_t whole;
  if (*title == '@')
    read_file(d, title + 1, &text);
  else if (*title != '=')
    tg_seen_text(&d->target->sight, source, SOURCE_MOST, &text, &whole);
  if (text.size > 0 && !text.failed)
    tg_declarations_scan(to, text.data, text.size);
  tg_buf_free(&text);
}

/* Each source is read once, by its string's address. */
static const tg_Declarations *declared_in (tg_Described *d, uint64_t source,
                                           const char *title) {
  uint32_t place = tg_intmap_find(&d->sources, source);
  if (place != TG_INTMAP_NONE)
    return &d->files[place];
  if (!tg_grow(&d->files, &d->files_capacity, d->nfiles + 1,
               sizeof *d->files)
      || !tg_intmap_set(&d->sources, source, d->nfiles))
    return NULL;
  tg_Declarations *to = &d->files[d->nfiles++];
  *to = (tg_Declarations){0};
  scan(d, source, title, to);
  return to;
}

/* A text's title as Lua has it (luaO_chunkid): its first line. */
static char *title_of_text (const char *text) {
  char title[TITLE];
  size_t line = strcspn(text, "\n\r");
  size_t room = sizeof title - sizeof "[string \"...\"]";
  bool cut = text[line] != '\0' || line >= room;
  if (line > room)
    line = room;
  snprintf(title, sizeof title, "[string \"%.*s%s\"]", (int)line, text,
           cut ? "..." : "");
  return tg_strcopy(title);
}

static char *url_of (const char *source) {
  return (*source == '@' || *source == '=') ? tg_strcopy(source + 1)
                                            : title_of_text(source);
}

/* }================================================================== */

/*
** {==================================================================
** Definitions
** ===================================================================
*/

/* Of a chunk without debug information they have no names: then "?" stands for
   each, as in traces. */
static void take_params (tg_Described *d, const tg_SeenProto *p,
                         tg_Function *f) {
  char name[256];
  f->nparams = p->params;
  f->vararg = p->vararg;
  f->params = tg_calloc(p->params + 1u, sizeof *f->params);
  for (uint32_t i = 0; f->params != NULL && i < p->params; i++) {
    bool named = tg_proto_local(&d->target->sight, p, i, 0, name, sizeof name);
    f->params[i] = tg_strcopy(named ? name : "?");
  }
}

static const char *declared (tg_Described *d, const tg_SeenProto *p,
                             const char *title, const char *called) {
  const tg_Declarations *in = declared_in(d, p->source, title);
  return (in != NULL) ? tg_declarations_find(in, p->line, called) : NULL;
}

static void describe_lua (tg_Described *d, const tg_SeenProto *p,
                          const char *loaded, const char *called,
                          tg_Function *f) {
  uint64_t whole;
  const char *name = loaded;
  tg_buf_clear(&d->text);
  if (p->source == 0
      || !tg_seen_text(&d->target->sight, p->source, TG_SOURCE_MAX, &d->text,
                       &whole))
    tg_buf_addstr(&d->text, "=?");
  tg_buf_addchar(&d->text, '\0');
  const char *source = d->text.failed ? "=?" : d->text.data;
  f->url = url_of(source);
  f->file = *source == '@';
  f->line = p->line;
  f->last_line = p->last_line;
  take_params(d, p, f);
  if (p->line == 0)
    name = "(main chunk)";
  if (name == NULL && p->source != 0)
    name = declared(d, p, source, called);
  name = (name != NULL) ? name : called;
  f->name = tg_strcopy(name != NULL ? name : "(anonymous function)");
}

/* "luv.so+0x1a2b", which addr2line understands. */
static char *symbol_of (const tg_Target *t, uint64_t code) {
  char text[300];
  const tg_Map *map = tg_maps_find(&t->memory.maps, code);
  if (map == NULL || map->path == NULL)
    return NULL;
  const char *slash = strrchr(map->path, '/');
  snprintf(text, sizeof text, "%.255s+0x%llx",
           (slash != NULL) ? slash + 1 : map->path,
           (unsigned long long)(code - map->start + map->offset));
  return tg_strcopy(text);
}

static void describe_c (tg_Described *d, uint64_t code, const char *loaded,
                        const char *called, tg_Function *f) {
  const char *name = (loaded != NULL) ? loaded : called;
  f->is_c = true;
  f->name = tg_strcopy(name != NULL ? name : "(anonymous function)");
  if (name == NULL)
    f->symbol = symbol_of(d->target, code);
}

/* 'p' is its prototype; NULL: it is C. */
static tg_FunctionId define (tg_Described *d, tg_Function *f, uint64_t key,
                             const tg_SeenProto *p) {
  tg_FunctionId id = tg_functions_add(d->functions, f);
  if (id == 0) {
    tg_function_clear(f);
    return 0;
  }
  tg_intmap_set(&d->ids, key, id);
  if (p != NULL && tg_grow_zeroed(&d->protos, &d->protos_capacity, id + 1,
                                  sizeof *d->protos))
    d->protos[id] = (tg_DescribedProto){p->source, p->line};
  return id;
}

/* A C function that package.loaded leads to is known by itself: closures of one
   C function have names of their own. */
static uint64_t key_of (const char *loaded, tg_SeenValue function,
                        uint64_t code, bool is_c) {
  return (is_c && loaded != NULL) ? function.bits : code;
}

tg_FunctionId tg_described_known (tg_Described *d, const tg_SeenFrame *f) {
  const char *loaded = f->is_c ? tg_loadednames_find(&d->loaded, f->function)
                               : NULL;
  uint64_t key = key_of(loaded, f->function, f->code, f->is_c);
  uint32_t id = tg_intmap_find(&d->ids, key);
  if (id == TG_INTMAP_NONE)
    return 0;
  if (!f->is_c && id < d->protos_capacity
      && (d->protos[id].source != f->source || d->protos[id].line != f->line)) {
    tg_intmap_drop(&d->ids, key);
    return 0;
  }
  return id;
}

tg_FunctionId tg_described_proto (tg_Described *d, const tg_SeenProto *p) {
  tg_Function f = {0};
  uint32_t id = tg_intmap_find(&d->ids, p->at);
  if (id != TG_INTMAP_NONE)
    return id;
  describe_lua(d, p, NULL, NULL, &f);
  return define(d, &f, p->at, p);
}

tg_FunctionId tg_described_of (tg_Described *d, tg_SeenValue function,
                                 const char *called) {
  tg_Function f = {0};
  tg_SeenProto p;
  uint64_t code;
  bool known;
  bool is_c = tg_seen_is_c(&d->target->sight, function, &code, &known);
  const char *loaded = tg_loadednames_find(&d->loaded, function);
  uint64_t key = key_of(loaded, function, code, is_c);
  uint32_t id = tg_intmap_find(&d->ids, key);
  if (id != TG_INTMAP_NONE)
    return id;
  if (!known || (!is_c && !tg_proto_read(&d->target->sight, code, &p)))
    return 0;
  if (is_c)
    describe_c(d, code, loaded, called, &f);
  else
    describe_lua(d, &p, loaded, called, &f);
  f.known = loaded != NULL;
  return define(d, &f, key, is_c ? NULL : &p);
}

/* }================================================================== */
