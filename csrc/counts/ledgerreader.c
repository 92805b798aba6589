/*
** ledgerreader.c - see ledgerreader.h. Records are copied out before they are
** looked at: the bytes may begin anywhere in memory.
*/
#include "counts/ledgerreader.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/grow.h"

typedef struct Reader {
  tg_Counts *into;
  tg_Buf text;                  /* owns: a source's */
  uint32_t *sources;            /* owns; indexes of 'into', by number - 1 */
  uint32_t nsources, source_capacity;
  tg_FunctionCounts **functions;        /* owns the list; by number - 1 */
  uint32_t nfunctions, function_capacity;
} Reader;

static tg_LedgerState add_source (Reader *r, const char *data, size_t size) {
  tg_LedgerSource s;
  if (size < sizeof s)
    return TG_LEDGER_BROKEN;
  memcpy(&s, data, sizeof s);
  size -= sizeof s;
  if (s.size > size || s.directory > size - s.size)
    return TG_LEDGER_BROKEN;
  const char *text = data + sizeof s;
  tg_buf_clear(&r->text);
  tg_buf_add(&r->text, text, s.size);
  tg_buf_add(&r->text, "", 1);
  tg_buf_add(&r->text, text + s.size, s.directory);
  if (r->text.failed
      || !tg_grow(&r->sources, &r->source_capacity, r->nsources + 1,
                  sizeof *r->sources))
    return TG_LEDGER_MEMORY;
  tg_SourceCounts *found = tg_counts_find(r->into, r->text.data, r->text.size);
  if (found == NULL)
    found = tg_counts_add(r->into, r->text.data, r->text.size, false);
  if (found == NULL)
    return TG_LEDGER_MEMORY;
  r->sources[r->nsources++] = (uint32_t)(found - r->into->sources);
  return TG_LEDGER_READ;
}

/* Adds 'count' counts of lines from that distance on. Counts of none need no
   room. */
static tg_LedgerState add_lines (Reader *r, tg_FunctionCounts *f, uint32_t at,
                                 const char *data, size_t count) {
  for (size_t i = 0; i < count; i++, at++) {
    uint64_t times;
    memcpy(&times, data + i * sizeof times, sizeof times);
    uint64_t *to = (times == 0) ? NULL
                   : (at < f->nlines) ? &f->found->lines[at]
                                      : tg_counts_beyond(r->into, f, at);
    if (to != NULL)
      *to += times;
    else if (times > 0)
      return r->into->ledger.over ? TG_LEDGER_MEMORY : TG_LEDGER_BROKEN;
  }
  return TG_LEDGER_READ;
}

static tg_LedgerState add_function (Reader *r, const char *data, size_t size) {
  tg_LedgerFunction f;
  if (size < sizeof f)
    return TG_LEDGER_BROKEN;
  memcpy(&f, data, sizeof f);
  if (f.source == 0 || f.source > r->nsources)
    return TG_LEDGER_BROKEN;
  tg_SourceCounts *s = &r->into->sources[r->sources[f.source - 1]];
  tg_FunctionCounts *found = tg_counts_function(r->into, s, f.first, f.last);
  if (found == NULL
      || !tg_grow(&r->functions, &r->function_capacity, r->nfunctions + 1,
                  sizeof(tg_FunctionCounts *)))
    return TG_LEDGER_MEMORY;
  found->found->calls += f.calls;
  r->functions[r->nfunctions++] = found;
  return add_lines(r, found, 0, data + sizeof f,
                   (size - sizeof f) / sizeof(uint64_t));
}

/* A page that is too far away to have been written is none. */
static tg_LedgerState add_counts (Reader *r, const char *data, size_t size) {
  tg_LedgerCounts c;
  if (size < sizeof c)
    return TG_LEDGER_BROKEN;
  memcpy(&c, data, sizeof c);
  if (c.function == 0 || c.function > r->nfunctions
      || c.page > UINT32_MAX / TG_LEDGER_LINES)
    return TG_LEDGER_BROKEN;
  return add_lines(r, r->functions[c.function - 1], c.page * TG_LEDGER_LINES,
                   data + offsetof(tg_LedgerCounts, counts), TG_LEDGER_LINES);
}

static tg_LedgerState add_record (Reader *r, uint32_t kind, const char *data,
                                  size_t size) {
  switch (kind) {
    case TG_LEDGER_NOTHING: return TG_LEDGER_READ;
    case TG_LEDGER_SOURCE: return add_source(r, data, size);
    case TG_LEDGER_FUNCTION: return add_function(r, data, size);
    case TG_LEDGER_COUNTS: return add_counts(r, data, size);
    default: return TG_LEDGER_BROKEN;
  }
}

static tg_LedgerState add_records (Reader *r, const char *data, size_t size) {
  tg_LedgerState state = TG_LEDGER_READ;
  while (size > 0 && state == TG_LEDGER_READ) {
    tg_LedgerRecord one;
    if (size < sizeof one)
      return TG_LEDGER_BROKEN;
    memcpy(&one, data, sizeof one);
    if (one.size < sizeof one || one.size > size)
      return TG_LEDGER_BROKEN;
    state = add_record(r, one.kind, data, one.size);
    data += one.size;
    size -= one.size;
  }
  return state;
}

tg_LedgerState tg_ledgerreader_add (tg_Counts *c, const char *data,
                                    size_t size, tg_LedgerInfo *info) {
  tg_LedgerHead head;
  Reader r = {.into = c};
  tg_check(c->ledger.directory == NULL);
  if (size < sizeof head
      || memcmp(data, TG_LEDGER_MAGIC, sizeof head.magic) != 0)
    return TG_LEDGER_BROKEN;
  memcpy(&head, data, sizeof head);
  *info = (tg_LedgerInfo){head.process, head.error};
  uint64_t used = atomic_load_explicit(&head.used, memory_order_relaxed);
  bool whole = used >= sizeof head && used <= size;
  if (used < sizeof head)
    used = sizeof head;
  tg_LedgerState state = add_records(&r, data + sizeof head,
                                     (whole ? (size_t)used : size)
                                     - sizeof head);
  tg_buf_free(&r.text);
  tg_free(r.sources);
  tg_free(r.functions);
  return (state == TG_LEDGER_READ && !whole) ? TG_LEDGER_BROKEN : state;
}
