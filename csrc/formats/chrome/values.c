/*
** values.c - see values.h. For chrome.c, on its thread, and for the
** threads that work on batches, which change nothing but their batch. Memory
** that is refused shows in the buffer that is written to.
*/
#include "formats/chrome/values.h"

#include "formats/chrome/chrome.h"
#include "formats/chrome/v8profile.h"

#define LONGEST ((size_t)1000)    /* bytes of a list of values that are shown */

/* The values that a packet may have. */
static uint32_t type_of (const tg_Packet *p) {
  switch (p->why) {
    case TG_WHY_ENTER: return p->resumed ? 0 : TG_TYPE_ARGUMENTS;
    case TG_WHY_RETURN: return TG_TYPE_RETURN;
    case TG_WHY_EXCEPTION: return TG_TYPE_THROW;
    case TG_WHY_YIELD: return TG_TYPE_YIELD;
    case TG_WHY_MARK:
      return tg_tracetype_mark(p->mark)
             & (TG_TYPE_MARKERS | TG_TYPE_ALLOCATIONS);
    case TG_WHY_TERMINATED: case TG_WHY_TICK: default: return 0;
  }
}

/* A recording may have more values than its trace asked for: those of another
   trace that ran at the same time (selection.h). */
bool tg_chromevalues_has (const tg_Export *x, const tg_Packet *p) {
  return p->values.data != NULL && (x->selection->types & type_of(p)) != 0;
}

/* The first LONGEST bytes tell what a call was for. */
static tg_PlainValues writer_of (const tg_Export *x) {
  return (tg_PlainValues){.functions = x->stream->functions,
                          .selection = x->selection, .most = LONGEST};
}

/* Adds a JSON string; names of parameters tell which values are secret. */
static void write_values (const tg_Export *x, tg_PlainValues *w,
                          const tg_Packet *p, tg_Buf *out) {
  size_t at = out->size;
  bool arguments = p->why == TG_WHY_ENTER;
  tg_plainvalues_list(w, out, p->values,
                      arguments ? tg_functions_find(x->stream->functions,
                                                    p->function) : NULL);
  tg_v8profile_clean(out, at);
  out->failed = out->failed || w->failed;
}

/* What is short, and refers to nothing long, is written sooner than handed
   over. */
static bool is_short (const tg_Packet *p) {
  return p->values.size < 16 && p->values.origin == NULL;
}

/* On a thread of readahead's: of the export it reads what is constant while
   packets are read, and 'idle', which the writing thread may set meanwhile.
   Then the rest is done for nothing at most. */
void tg_chromevalues_work (void *ud, tg_Batch *b) {
  tg_Export *x = ud;
  tg_PlainValues w = writer_of(x);
  bool idle = atomic_load(&x->idle);
  for (; b->worked < b->count; b->worked++) {
    const tg_Packet *p = &b->packets[b->worked];
    if (!idle && tg_chromevalues_has(x, p) && !is_short(p))
      write_values(x, &w, p, &b->text);
    b->ends[b->worked] = (uint32_t)b->text.size;
  }
  tg_plainvalues_free(&w);
}

/* The same few small values are most of what is passed: their text is kept
   (textcache.h). */
static void put_short (tg_ChromeValues *v, const tg_Packet *p, tg_Buf *out) {
  tg_Export *x = v->x;
  size_t at = out->size;
  if (tg_textcache_put(&x->brief, p->values, out))
    return;
  write_values(x, &v->plain, p, out);
  tg_textcache_keep(&x->brief, p->values, out, at);
}

/* The two kinds are told apart here as by those who worked ahead (is_short), so
   each text is made once. */
void tg_chromevalues_put (tg_ChromeValues *v, tg_Buf *out, const char *key,
                          const tg_Packet *p) {
  tg_assert(tg_chromevalues_has(v->x, p));
  tg_buf_addstr(out, key);
  if (is_short(p))
    put_short(v, p, out);
  else {
    tg_Slice text = tg_export_worked(v->x);
    tg_buf_add(out, text.data, text.size);
  }
}

tg_ChromeValues tg_chromevalues_of (tg_Export *x) {
  return (tg_ChromeValues){.x = x, .plain = writer_of(x)};
}

void tg_chromevalues_free (tg_ChromeValues *v) {
  tg_plainvalues_free(&v->plain);
}
