/*
** messages.c - see messages.h. For trace/scopesession.c, which gives it a sink:
** a Lua table or JSON text.
**
** Names of fields are those of Opera's service description; times in
** milliseconds. What fails, fails in the sink.
*/
#include "scope/messages.h"

#include <string.h>

#include "packet/names.h"

/* Of an event, or of all events of an answer. */
void tg_messages_interval (tg_Sink *out, uint64_t start_ns,
                           uint64_t end_ns) {
  out->object(out);
  tg_sink_ms(out, "start", start_ns);
  tg_sink_ms(out, "end", end_ns);
  out->close(out);
}

/*
** {==================================================================
** Data of types
** ===================================================================
*/

/* One of the functions that have the label: these differ in nothing that is
   written. */
static const tg_Function *function_of (const tg_Scope *s,
                                       const tg_ScopeKind *kind) {
  return tg_funclabels_function(&s->kinds.labels, kind->label);
}

/* A chunk that is run, or the body of a coroutine. */
static void put_evaluation (tg_Sink *out, tg_Buf *room, const tg_Scope *s,
                            const tg_ScopeKind *kind) {
  tg_sink_key(out, "scriptThreadEvaluation");
  out->object(out);
  tg_sink_count(out, "scriptThreadType", kind->detail);
  if (kind->detail == TG_SCOPE_EVENT) {
    tg_sink_key(out, "eventName");
    tg_names_title(out, room, function_of(s, kind));
  }
  out->close(out);
}

/* The text of a kind, if it is known. */
static void put_detail (tg_Sink *out, tg_Buf *room, const tg_Scope *s,
                        const tg_ScopeKind *kind, const char *name) {
  if (kind->text != TG_INTMAP_NONE) {
    size_t size;
    const char *text = tg_intern_get(&s->kinds.texts, kind->text, &size);
    out->key(out, name, strlen(name));
    tg_sink_text(out, room, text, size);
  }
}

/* What was compiled is the chunk's name, if arguments were recorded. */
static void put_compilation (tg_Sink *out, tg_Buf *room, const tg_Scope *s,
                             const tg_ScopeKind *kind) {
  tg_sink_key(out, "scriptCompilation");
  out->object(out);
  tg_sink_count(out, "scriptType", kind->detail);
  put_detail(out, room, s, kind, "url");
  out->close(out);
}

/* What collectgarbage was asked for: "step", "count"... */
static void put_collection (tg_Sink *out, tg_Buf *room, const tg_Scope *s,
                            const tg_ScopeKind *kind) {
  tg_sink_key(out, "garbageCollection");
  out->object(out);
  put_detail(out, room, s, kind, "option");
  out->close(out);
}

/* Every event is a call of some function. */
static void put_function (tg_Sink *out, tg_Buf *room, const tg_Function *f) {
  tg_sink_key(out, "functionCall");
  out->object(out);
  tg_sink_key(out, "name");
  tg_names_title(out, room, f);
  if (!f->is_c) {
    tg_sink_key(out, "source");
    tg_sink_string(out, room, f->url);
    tg_sink_count(out, "line", tg_funclabels_line(f));
  }
  tg_sink_count(out, "kind", f->is_c ? TG_SCOPE_C : TG_SCOPE_LUA);
  out->close(out);
}

/* What a type has of its own, and the function, which all have. */
static void put_data (tg_Sink *out, tg_Buf *room, const tg_Scope *s,
                      const tg_ScopeKind *kind) {
  if (kind->type == TG_SCOPE_EVALUATION)
    put_evaluation(out, room, s, kind);
  else if (kind->type == TG_SCOPE_COMPILATION)
    put_compilation(out, room, s, kind);
  put_function(out, room, function_of(s, kind));
  if (kind->type == TG_SCOPE_COLLECTION)
    put_collection(out, room, s, kind);
}

/* }================================================================== */

/* What a single event has, and several added up have not. */
static void put_place (tg_Sink *out, const tg_ScopeEvent *e) {
  tg_sink_count(out, "eventID", e->id);
  if (e->parent != 0)
    tg_sink_count(out, "parentEventID", e->parent);
  tg_sink_count(out, "childCount", e->children);
  tg_sink_ms(out, "aggregatedTime", e->all_time_ns);
  tg_sink_ms(out, "aggregatedOverhead", e->all_overhead_ns);
}

/* Fields depend on the mode: of several events that are added up there is no
   place, and no data either if they are of several kinds. */
void tg_messages_event (tg_Sink *out, tg_Buf *room, const tg_Scope *s,
                        tg_ScopeMode mode, const tg_ScopeEvent *e) {
  out->object(out);
  tg_sink_count(out, "type", e->type);
  tg_sink_ms(out, "time", e->time_ns);
  tg_sink_ms(out, "overhead", e->overhead_ns);
  tg_sink_count(out, "hits", e->hits);
  tg_sink_key(out, "interval");
  tg_messages_interval(out, e->start_ns, e->end_ns);
  if (mode == TG_SCOPE_ALL)
    put_place(out, e);
  if (mode == TG_SCOPE_ALL || mode == TG_SCOPE_UNIQUE_EVENTS)
    put_data(out, room, s, &s->kinds.list[e->kind]);
  out->close(out);
}
