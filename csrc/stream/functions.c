/*
** functions.c - the table of definitions: blocks that never move.
**
** The writer fills an entry, then publishes it by 'count'; a block appears
** before the first count that needs it. So a reader that has an id from a
** committed event finds its definition without a lock. A growing array would be
** simpler, but moves what readers on other threads look at.
**
** Written by the traced thread, in the hook when a function is new, or by
** whoever opens a recording; read by any. Without memory an id is 0, and the
** event that needs it is lost.
*/
#include "stream/functions.h"

#include <string.h>

#include "base/alloc.h"

tg_Functions *tg_functions_new (void) {
  tg_Functions *fs = tg_calloc(1, sizeof *fs);
  if (fs != NULL)
    fs->texts.most = TG_SOURCE_MAX;
  return fs;
}

/* Also a definition that is not complete: missing parts are NULL. */
void tg_function_clear (tg_Function *f) {
  tg_free(f->name);
  tg_free(f->url);
  tg_free(f->symbol);
  if (f->params != NULL) {
    for (uint16_t i = 0; i < f->nparams; i++)
      tg_free(f->params[i]);
  }
  tg_free(f->params);
  memset(f, 0, sizeof *f);
}

/* Blocks come in order, so the first that is missing is the end. */
void tg_functions_free (tg_Functions *fs) {
  if (fs == NULL)
    return;
  for (uint32_t b = 0; b < TG_FUNCTIONS_BLOCKS; b++) {
    tg_Function *block = atomic_load(&fs->blocks[b]);
    if (block == NULL)
      break;
    for (uint32_t i = 0; i < TG_FUNCTIONS_BLOCK; i++)
      tg_function_clear(&block[i]);
    tg_free(block);
  }
  tg_texts_free(&fs->texts);
  tg_free(fs);
}

/* The block of 'id', made if it is not there; NULL without memory. */
static tg_Function *block_of (tg_Functions *fs, tg_FunctionId id) {
  tg_Function *_Atomic *slot = &fs->blocks[id / TG_FUNCTIONS_BLOCK];
  tg_Function *block = atomic_load_explicit(slot, memory_order_relaxed);
  if (block == NULL) {
    block = tg_calloc(TG_FUNCTIONS_BLOCK, sizeof *block);
    if (block != NULL)
      atomic_store_explicit(slot, block, memory_order_release);
  }
  return block;
}

/* Takes over what 'f' owns. A watcher is told before the id is published: what
   it writes must be there before the first event that names the function. */
tg_FunctionId tg_functions_add (tg_Functions *fs, const tg_Function *f) {
  tg_FunctionId id
      = atomic_load_explicit(&fs->count, memory_order_relaxed) + 1;
  if (id >= TG_FUNCTIONS_BLOCK * TG_FUNCTIONS_BLOCKS)
    return 0;
  tg_Function *block = block_of(fs, id);
  if (block == NULL)
    return 0;
  tg_assert(tg_functions_find(fs, id) == NULL);
  block[id % TG_FUNCTIONS_BLOCK] = *f;
  if (fs->watch != NULL)
    fs->watch(fs->watcher, id, f);
  atomic_store_explicit(&fs->count, id, memory_order_release);
  return id;
}

/* On the writer's thread: nobody is told while it changes. */
void tg_functions_watch (tg_Functions *fs, tg_FunctionWatch *watch,
                         void *watcher) {
  tg_check(watch == NULL || fs->watch == NULL);
  fs->watch = watch;
  fs->watcher = watcher;
}

/* Neither of Lua nor of C: they have a name and no place. */
const tg_Function *tg_functions_shown (const tg_Functions *fs, uint32_t id) {
  static char left_name[] = "(calls left out)", hidden_name[] = "(left out)",
              idle_name[] = "(not running)";
  static const tg_Function left = {.name = left_name},
                           hidden = {.name = hidden_name},
                           idle = {.name = idle_name};
  switch (id) {
    case TG_FUNCTION_LEFT: return &left;
    case TG_FUNCTION_HIDDEN: return &hidden;
    case TG_FUNCTION_IDLE: return &idle;
    default: return tg_functions_find(fs, id);
  }
}

static bool is_one_of (const char *name, const char *const *list) {
  for (; *list != NULL; list++) {
    if (strcmp(name, *list) == 0)
      return true;
  }
  return false;
}

/* Names of Lua's own functions; another module may have the name of a library,
   but then it is not known by it. */
bool tg_function_may_wait (const tg_Function *f) {
  static const char *const computing[] = {"string", "table", "math", "utf8",
                                          "coroutine", "debug", NULL};
  static const char *const reading[] = {"print", "dofile", "loadfile", "load",
                                        "require", "warn", NULL};
  char library[16];
  if (!f->is_c || !f->known || f->name == NULL)
    return f->is_c;
  const char *dot = strchr(f->name, '.');
  if (dot == NULL)
    return is_one_of(f->name, reading);
  size_t size = (size_t)(dot - f->name);
  if (size >= sizeof library)
    return true;
  memcpy(library, f->name, size);
  library[size] = '\0';
  return !is_one_of(library, computing);
}

/* It is in no table of the program's, so it has no name of one. */
bool tg_function_is_pause (const tg_Function *f) {
  static const char *const pauses[] = {TG_COLLECTOR_NAME, TG_PREEMPTED_NAME,
                                       NULL};
  return f->is_c && !f->known && f->name != NULL
         && is_one_of(f->name, pauses);
}
