/* frames.c - see frames.h. */
#include "dump/frames.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "dump/calledname.h"

#define VARIABLES 512u          /* of a frame, */
#define EXTRAS 250u             /* and of these extra arguments */

void tg_dumpframes_free (tg_DumpThread *t) {
  for (uint32_t i = 0; i < t->nframes; i++) {
    tg_free(t->frames[i].variables);
    tg_buf_free(&t->frames[i].names);
    tg_buf_free(&t->frames[i].values);
  }
  tg_free(t->frames);
  t->frames = NULL;
  t->nframes = 0;
}

/*
** {==================================================================
** Variables
** ===================================================================
*/

/* Those of one frame, while they are gathered. */
typedef struct Gathering {
  tg_Dump *d;
  tg_DumpFrame *f;
  tg_SeenValue values[VARIABLES];
  bool hidden[VARIABLES];
  tg_Variable list[VARIABLES];
  uint32_t n;
} Gathering;

/* Whether what is in a slot is of before: no value is told then. */
static bool is_compiled (const tg_Dump *d, uint64_t slot) {
  return slot >= d->compiled.start && slot < d->compiled.end;
}

static bool gather (Gathering *g, const char *name, tg_VariableKind kind,
                    uint64_t slot) {
  if (g->n == VARIABLES)
    return false;
  uint32_t i = g->n++;
  bool unknown = is_compiled(g->d, slot);
  g->values[i] = unknown ? (tg_SeenValue){0}
                         : tg_seen_slot(&g->d->target->sight, slot);
  g->hidden[i] = g->d->options.selection->redacts
                 && tg_selection_secret(g->d->options.selection, name);
  g->list[i] = (tg_Variable){(uint32_t)g->f->names.size, kind, unknown};
  tg_buf_add(&g->f->names, name, strlen(name) + 1);
  return true;
}

/* Parameters come first among the variables, each in its slot. */
static void gather_locals (Gathering *g, const tg_SeenProto *p) {
  tg_Sight *s = &g->d->target->sight;
  const tg_SeenFrame *seen = &g->f->seen;
  char name[256];
  tg_SeenNames names = {0};
  uint32_t n = 0;
  while (tg_proto_next_local(s, p, seen->pc, &names, name, sizeof name)) {
    uint64_t slot = seen->base + (uint64_t)n * tg_walk_slot(s);
    tg_VariableKind kind = (n < p->params) ? TG_VARIABLE_ARGUMENT
                                           : TG_VARIABLE_LOCAL;
    if (!gather(g, name, kind, slot))
      return;
    n++;
  }
}

static void gather_extras (Gathering *g) {
  const tg_SeenFrame *seen = &g->f->seen;
  uint64_t size = tg_walk_slot(&g->d->target->sight);
  for (uint32_t i = 0; i < seen->extra && i < EXTRAS; i++) {
    if (!gather(g, "...", TG_VARIABLE_ARGUMENT, seen->extras + i * size))
      return;
  }
}

static void gather_upvalues (Gathering *g, const tg_SeenProto *p) {
  tg_Sight *s = &g->d->target->sight;
  char name[256];
  uint64_t slot;
  for (uint32_t i = 0; tg_seen_upvalue(s, g->f->seen.function, i, &slot);
       i++) {
    if (!tg_proto_upvalue(s, p, i, name, sizeof name))
      strcpy(name, "(no name)");
    if (!gather(g, name, TG_VARIABLE_UPVALUE, slot))
      return;
  }
}

/* A C function's values have no names. */
static void gather_unnamed (Gathering *g) {
  const tg_SeenFrame *seen = &g->f->seen;
  uint64_t size = tg_walk_slot(&g->d->target->sight);
  for (uint64_t slot = seen->base; slot + size <= seen->limit; slot += size) {
    if (g->n >= EXTRAS
        || !gather(g, "(C temporary)", TG_VARIABLE_LOCAL, slot))
      return;
  }
}

static void keep (Gathering *g) {
  tg_DumpFrame *f = g->f;
  if (g->n == 0)
    return;
  f->variables = tg_malloc(g->n * sizeof *f->variables);
  if (f->variables == NULL) {
    g->d->failed = true;
    return;
  }
  memcpy(f->variables, g->list, g->n * sizeof *f->variables);
  f->nvariables = g->n;
  tg_valuelist_put(&g->d->lister, g->values, g->hidden, g->n, &f->values);
  g->d->failed = g->d->failed || f->values.failed || f->names.failed;
}

/* Extra arguments come after the parameters and before the rest: the document
   sorts by kind, and keeps the order of a kind. */
static void take_values (tg_Dump *d, tg_DumpFrame *f) {
  Gathering g;
  tg_SeenProto p;
  g.d = d;
  g.f = f;
  g.n = 0;
  if (f->seen.is_c) {
    if (d->options.locals)
      gather_unnamed(&g);
  }
  else if (tg_proto_read(&d->target->sight, f->seen.code, &p)) {
    if (d->options.locals) {
      gather_locals(&g, &p);
      gather_extras(&g);
    }
    if (d->options.upvalues)
      gather_upvalues(&g, &p);
  }
  keep(&g);
}

/* }================================================================== */

/*
** {==================================================================
** Frames
** ===================================================================
*/

static void tell (tg_Dump *d, tg_DumpThread *t, uint32_t i) {
  tg_DumpFrame *f = &t->frames[i];
  tg_SeenProto p;
  char called[256];
  bool named = i + 1 < t->nframes
               && tg_calledname_by(&d->target->sight, t->state.shared,
                                   &t->frames[i + 1].seen, &f->seen, called,
                                   sizeof called);
  bool is_lua = !f->seen.is_c
                && tg_proto_read(&d->target->sight, f->seen.code, &p);
  if (is_lua && tg_seen_type(f->seen.function) == TG_SEEN_NIL)
    f->function = tg_described_proto(&d->definitions, &p);
  else
    f->function = tg_described_of(&d->definitions, f->seen.function,
                                  named ? called : NULL);
  if (is_lua)
    f->line = tg_proto_line(&d->target->sight, &p, f->seen.pc);
  if (d->options.locals || d->options.upvalues)
    take_values(d, f);
}

static void tell_above (tg_Dump *d, tg_DumpThread *t) {
  tg_Sight *s = &d->target->sight;
  tg_SeenProto p;
  if (t->above.code == 0 || !tg_proto_read(s, t->above.code, &p))
    return;
  t->above_function = tg_described_proto(&d->definitions, &p);
  t->above_line = tg_proto_line(s, &p, t->above.pc);
}

static bool has_work_left (const tg_Dump *d) {
  return d->target->memory.work < d->work;
}

/* How many frames of a coroutine are told: no more than its stack has room for,
   nor than are left of all. */
static uint32_t most_frames (const tg_Dump *d, const tg_DumpThread *t) {
  uint32_t most = d->options.all ? TG_DUMP_FRAMES_ALL : TG_DUMP_FRAMES;
  uint64_t slots = (t->state.last - t->state.stack)
                   / tg_walk_slot(&d->target->sight) + 64;
  if (most > d->frames)
    most = d->frames;
  return (most < slots) ? most : (uint32_t)slots;
}

void tg_dumpframes_take (tg_Dump *d, tg_DumpThread *t,
                         const tg_Registers *registers) {
  uint32_t most = most_frames(d, t);
  tg_SeenFrame *list = tg_malloc((most + 1u) * sizeof *list);
  if (list == NULL) {
    d->failed = true;
    return;
  }
  t->end = tg_walk_running(&d->target->sight, &t->state, registers, list, most,
                           &t->nframes, &t->above);
  t->frames = tg_calloc(t->nframes + 1u, sizeof *t->frames);
  if (t->frames == NULL) {
    t->nframes = 0;
    d->failed = true;
  }
  d->frames -= t->nframes;
  for (uint32_t i = 0; i < t->nframes; i++)
    t->frames[i].seen = list[i];
  tg_free(list);
  if (t->above.slots != 0)
    d->compiled = (tg_DumpSlots){t->above.slots, t->state.last};
  d->lister.shared = t->state.shared;
  for (uint32_t i = 0; i < t->nframes && has_work_left(d); i++)
    tell(d, t, i);
  tell_above(d, t);
}

/* }================================================================== */
