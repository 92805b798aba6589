/*
** stacktables.c - see stacktables.h. For tracks.c, with every call and return;
** the writers read the tables when all packets are in.
**
** Each table is an array and a hash of what is in it. Most questions are those
** of the time before ('latest'), which is looked at first. Without memory
** TG_STACK_NONE; the tables are whole, if one hash may lack an entry.
*/
#include "formats/firefox/stacktables.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "export/boxnames.h"
#include "export/export.h"

/*
** {==================================================================
** Funcs
** ===================================================================
*/

static void add_text (tg_Buf *key, const char *s) {
  if (s != NULL)
    tg_buf_addstr(key, s);
  tg_buf_addchar(key, '\0');
}

/* What makes a func the same as another. A main chunk is at line 1, where the
   viewer shows it. */
static void write_key (tg_Buf *key, const tg_Function *f, bool away) {
  uint32_t line = f == NULL || f->is_c ? 0 : f->line > 0 ? f->line : 1;
  tg_buf_addchar(key, away ? 'a' : 'f');
  if (away) {
    tg_boxname_label(f, key);
    return;
  }
  add_text(key, f != NULL ? tg_function_title(f) : NULL);
  add_text(key, f != NULL ? f->url : NULL);
  tg_buf_add(key, &line, sizeof line);
}

/* Definitions that read the same are one func: a viewer's call tree would show
   them as two with the same name. The interned text's number is the func's, so
   the two grow together. */
static uint32_t new_func (tg_StackTables *c, const tg_Functions *fs,
                          tg_FunctionId function, bool away) {
  tg_Buf key = {0};
  write_key(&key, away ? tg_functions_find(fs, function)
                       : tg_functions_shown(fs, function), away);
  uint32_t func = TG_STACK_NONE;
  if (!key.failed
      && tg_grow(&c->funcs, &c->cfuncs, c->nfuncs + 1, sizeof *c->funcs))
    func = tg_intern_add(&c->texts, key.data, key.size);
  tg_buf_free(&key);
  if (func == c->nfuncs)
    c->funcs[c->nfuncs++] = (tg_CallFunc){function, away, TG_STACK_NONE};
  return func;
}

/* 'away': the func that stands for a coroutine which is waited for, named by
   its first function. */
static uint64_t id_of (tg_FunctionId function, bool away) {
  return (uint64_t)function << 1 | away;
}

uint32_t tg_stacktables_find (const tg_StackTables *c, tg_FunctionId function) {
  return tg_intmap_find(&c->by_id, id_of(function, false));
}

/* By id first, which costs one look; only a new id has its words compared. */
uint32_t tg_stacktables_func (tg_StackTables *c, const tg_Functions *fs,
                              tg_FunctionId function, bool away) {
  uint64_t id = id_of(function, away);
  uint32_t func = tg_intmap_find(&c->by_id, id);
  if (tg_likely(func != TG_INTMAP_NONE))
    return func;
  func = new_func(c, fs, function, away);
  if (func == TG_STACK_NONE || !tg_intmap_set(&c->by_id, id, func))
    return TG_STACK_NONE;
  return func;
}

/* }================================================================== */

/*
** {==================================================================
** Frames and stacks
** ===================================================================
*/

/* A func at a line. Room in the array first, then the hash: what the hash has
   is there. */
static uint32_t find_frame (tg_StackTables *c, uint32_t func, uint32_t line) {
  uint64_t key = (uint64_t)func << 32 | line;
  uint32_t frame = tg_intmap_find(&c->by_line, key);
  if (frame == TG_INTMAP_NONE) {
    frame = c->nframes;
    if (!tg_grow(&c->frames, &c->cframes, frame + 1, sizeof *c->frames)
        || !tg_intmap_set(&c->by_line, key, frame))
      return TG_STACK_NONE;
    c->frames[c->nframes++] = (tg_CallFrame){func, line};
  }
  return c->funcs[func].latest = frame;
}

uint32_t tg_stacktables_frame (tg_StackTables *c, uint32_t func,
                               uint32_t line) {
  tg_assert(func < c->nfuncs);
  uint32_t latest = c->funcs[func].latest;
  if (tg_likely(latest != TG_STACK_NONE && c->frames[latest].line == line))
    return latest;
  return find_frame(c, func, line);
}

/* The stack of a frame above 'prefix': a prefix has a lower number, as viewers
   require. The key fits 64 bits, so there is nothing to compare but it. */
static uint32_t find_stack (tg_StackTables *c, uint32_t prefix,
                            uint32_t frame) {
  uint64_t key = (uint64_t)prefix << 32 | frame;
  uint32_t stack = tg_intmap_find(&c->by_prefix, key);
  if (stack == TG_INTMAP_NONE) {
    stack = c->nstacks;
    if (!tg_grow(&c->stacks, &c->cstacks, stack + 1, sizeof *c->stacks)
        || !tg_intmap_set(&c->by_prefix, key, stack))
      return TG_STACK_NONE;
    c->stacks[c->nstacks++] = (tg_CallStack){prefix, frame, TG_STACK_NONE};
  }
  if (prefix == TG_STACK_NONE)
    return c->latest = stack;
  return c->stacks[prefix].latest = stack;
}

uint32_t tg_stacktables_push (tg_StackTables *c, uint32_t prefix,
                              uint32_t frame) {
  tg_assert(frame < c->nframes
            && (prefix == TG_STACK_NONE || prefix < c->nstacks));
  uint32_t latest = prefix == TG_STACK_NONE ? c->latest
                                            : c->stacks[prefix].latest;
  if (tg_likely(latest < c->nstacks && c->stacks[latest].frame == frame
                && c->stacks[latest].prefix == prefix))
    return latest;
  return find_stack(c, prefix, frame);
}

/* }================================================================== */

void tg_stacktables_free (tg_StackTables *c) {
  tg_free(c->funcs);
  tg_free(c->frames);
  tg_free(c->stacks);
  tg_intern_free(&c->texts);
  tg_intmap_free(&c->by_id);
  tg_intmap_free(&c->by_line);
  tg_intmap_free(&c->by_prefix);
  memset(c, 0, sizeof *c);
}
