/* document.c - see document.h. */
#include "dump/document.h"

#include <string.h>

#include "packet/grippool.h"
#include "packet/names.h"
#include "packet/scalars.h"

static const tg_Function *function_of (const tg_Dump *d,
                                       const tg_DumpFrame *f) {
  return tg_functions_find(d->definitions.functions, f->function);
}

/* A member that is there where it is true. */
static void put_flag (tg_Sink *out, const char *name) {
  out->key(out, name, strlen(name));
  out->boolean(out, true);
}

/*
** {==================================================================
** Values
** ===================================================================
*/

/* Those of one kind, as {name, value} or {name, unknown}; grips name objects of
   the pool. */
static void put_variables (const tg_DumpFrame *f, tg_Grips *g,
                           tg_VariableKind kind) {
  tg_Sink *out = g->out;
  tg_ValueCursor c = g->first;
  out->array(out);
  for (uint32_t i = 0; i < f->nvariables && i < g->listed; i++) {
    tg_Grip v;
    tg_values_grip(&c, &v);
    if (f->variables[i].kind != kind)
      continue;
    out->object(out);
    tg_sink_key(out, "name");
    tg_sink_string(out, &g->scratch->room,
                   f->names.data + f->variables[i].name);
    if (f->variables[i].unknown)
      put_flag(out, "unknown");
    else {
      tg_sink_key(out, "value");
      tg_grips_put(g, &v, 0);
    }
    out->close(out);
  }
  out->close(out);
}

static void put_values (const tg_Dump *d, const tg_DumpFrame *f,
                        tg_Sink *out, tg_Scratch *scratch) {
  tg_Grips g;
  tg_Slice values = {.data = (const uint8_t *)f->values.data,
                     .size = f->values.size};
  tg_grips_open(&g, out, d->definitions.functions, d->options.selection,
                scratch, values);
  if (d->options.locals) {
    tg_sink_key(out, "arguments");
    put_variables(f, &g, TG_VARIABLE_ARGUMENT);
    tg_sink_key(out, "locals");
    put_variables(f, &g, TG_VARIABLE_LOCAL);
  }
  if (d->options.upvalues) {
    tg_sink_key(out, "upvalues");
    put_variables(f, &g, TG_VARIABLE_UPVALUE);
  }
  tg_sink_key(out, "objectPool");
  tg_grippool_write(&g);
}

/* }================================================================== */

/*
** {==================================================================
** Frames, coroutines, states
** ===================================================================
*/

static void put_place (const tg_DumpFrame *f, const tg_Function *of,
                       tg_Sink *out, tg_Scratch *scratch) {
  tg_sink_key(out, "kind");
  if (of->is_c) {
    tg_sink_word(out, "C");
    if (of->symbol != NULL) {
      tg_sink_key(out, "symbol");
      tg_sink_string(out, &scratch->room, of->symbol);
    }
    return;
  }
  if (of->line == 0)
    tg_sink_word(out, "main");
  else
    tg_sink_word(out, "Lua");
  tg_sink_key(out, "url");
  tg_sink_string(out, &scratch->room, of->url);
  if (f->line > 0)
    tg_sink_count(out, "line", f->line);
  tg_sink_count(out, "linedefined", of->line);
}

static void put_frame (const tg_Dump *d, const tg_DumpFrame *f, tg_Sink *out,
                       tg_Scratch *scratch) {
  const tg_Function *of = function_of(d, f);
  out->object(out);
  tg_sink_key(out, "name");
  tg_names_function(out, &scratch->room, of);
  if (of != NULL)
    put_place(f, of, out, scratch);
  if (f->seen.tail)
    put_flag(out, "tailCall");
  if (f->seen.stale)
    put_flag(out, "stale");
  if (f->seen.near)
    put_flag(out, "near");
  if (f->seen.inlined)
    put_flag(out, "inlined");
  if (d->options.locals || d->options.upvalues)
    put_values(d, f, out, scratch);
  out->close(out);
}

/* Where compiled code begins, if that is known. */
static void put_beginning (const tg_Dump *d, const tg_DumpThread *t,
                           tg_Sink *out, tg_Scratch *scratch) {
  const tg_Function *of = tg_functions_find(d->definitions.functions,
                                            t->above_function);
  if (of == NULL)
    return;
  tg_sink_key(out, "name");
  tg_names_function(out, &scratch->room, of);
  tg_sink_key(out, "url");
  tg_sink_string(out, &scratch->room, of->url);
  if (t->above_line > 0)
    tg_sink_count(out, "line", t->above_line);
}

/* What runs above the innermost frame, and is in none. */
static void put_above (const tg_Dump *d, const tg_DumpThread *t,
                       tg_Sink *out, tg_Scratch *scratch) {
  if (t->above.kind == TG_ABOVE_UNKNOWN)
    put_flag(out, "unknown");
  if (t->above.kind != TG_ABOVE_COMPILED)
    return;
  tg_sink_key(out, "compiled");
  out->object(out);
  tg_sink_count(out, "trace", t->above.trace);
  put_beginning(d, t, out, scratch);
  out->close(out);
}

static void put_status (tg_DumpStatus status, tg_Sink *out) {
  const char *word = tg_dump_status(status);
  tg_sink_key(out, "status");
  out->string(out, word, strlen(word));
}

static void put_thread (const tg_Dump *d, const tg_DumpState *s,
                        const tg_DumpThread *t, tg_Sink *out,
                        tg_Scratch *scratch) {
  out->object(out);
  tg_sink_count(out, "id", t->id);
  put_status(t->status, out);
  if (t->unsure)
    put_flag(out, "unconfirmed");
  if (s->waits && t->status == TG_DUMP_RUNNING)
    put_flag(out, "waits");
  put_above(d, t, out, scratch);
  tg_sink_key(out, "frames");
  out->array(out);
  for (uint32_t i = 0; i < t->nframes; i++)
    put_frame(d, &t->frames[i], out, scratch);
  out->close(out);
  if (t->end != TG_WALK_WHOLE)
    tg_scalars_truncated(out);
  out->close(out);
}

static void put_state (const tg_Dump *d, const tg_DumpState *s, tg_Sink *out,
                       tg_Scratch *scratch) {
  out->object(out);
  if (s->tid != 0)
    tg_sink_count(out, "tid", (uint64_t)s->tid);
  if (s->over > 0)
    tg_sink_count(out, "dead", s->over);
  if (s->omitted > 0)
    tg_sink_count(out, "omitted", s->omitted);
  if (s->unsure > 0)
    tg_sink_count(out, "unconfirmed", s->unsure);
  tg_sink_key(out, "coroutines");
  out->array(out);
  for (uint32_t i = 0; i < s->nthreads; i++)
    put_thread(d, s, &s->threads[i], out, scratch);
  out->close(out);
  out->close(out);
}

/* What was impossible and so is not told. */
static void put_rejected (const tg_Dump *d, tg_Sink *out) {
  uint64_t sum = 0;
  for (int i = 0; i < TG_NREASONS; i++)
    sum += d->target->sight.rejected[i];
  if (sum == 0)
    return;
  tg_sink_key(out, "rejected");
  out->object(out);
  for (int i = 0; i < TG_NREASONS; i++) {
    if (d->target->sight.rejected[i] > 0)
      tg_sink_count(out, tg_sight_reason((tg_Reason)i),
                    d->target->sight.rejected[i]);
  }
  out->close(out);
}

static void put_head (const tg_Dump *d, tg_Sink *out, tg_Scratch *scratch) {
  const tg_Target *t = d->target;
  char release[TG_TARGET_LUA];
  bool core = t->memory.core != NULL;
  int pid = core ? t->core.pid : t->memory.pid;
  tg_target_lua(t, release);
  tg_sink_count(out, "pid", (uint64_t)(uint32_t)pid);
  if (core) {
    tg_sink_key(out, "core");
    tg_sink_string(out, &scratch->room, t->core.path);
  }
  tg_sink_key(out, "exe");
  tg_sink_string(out, &scratch->room, t->exe);
  tg_sink_key(out, "lua");
  out->string(out, release, strlen(release));
  if (core && t->core.signal != 0)
    tg_sink_count(out, "signal", (uint64_t)(uint32_t)t->core.signal);
  if (core)
    return;
  tg_sink_ms(out, "stopped_ms", d->stopped_ns);
  tg_sink_key(out, "steady");
  out->boolean(out, d->steady);
}

void tg_document_write (const tg_Dump *d, tg_Sink *out, tg_Scratch *scratch) {
  out->object(out);
  put_head(d, out, scratch);
  tg_sink_key(out, "states");
  out->array(out);
  for (uint32_t i = 0; i < d->nstates; i++)
    put_state(d, &d->states[i], out, scratch);
  out->close(out);
  if (d->target->found.omitted > 0)
    tg_sink_count(out, "omitted", d->target->found.omitted);
  put_rejected(d, out);
  out->close(out);
}

/* }================================================================== */
