/*
** context.c - the running chain as a CONTEXT has it (event.h). Called by the
** writer where a chunk or a trace begins, in the hook or outside of it. There
** is room for all that is written here (TG_CONTEXT_MAX).
*/
#include "chain/context.h"

#include "state/session.h"

/* Resumes nest no deeper than C calls do (LUAI_MAXCCALLS, 200), so nothing is
   ever cut off; the limit is what the writer has room for. */
static uint32_t chain_length (const tg_Session *s) {
  uint32_t n = 0;
  for (const tg_Coroutine *t = s->current; t != NULL; t = t->resumer)
    n++;
  return (n < TG_CONTEXT_THREADS) ? n : TG_CONTEXT_THREADS;
}

/* The visible frames of the chain, from 't' down to the main one, end at 'end':
   coroutines are written from behind, since the chain is known from its top. */
static void list_frames (const tg_Coroutine *t, uint8_t *end) {
  for (; t != NULL; t = t->resumer) {
    uint8_t *last = end, *p = end -= 4 * (size_t)tg_coroutine_visible(t);
    for (uint32_t i = 0; i < t->n && p < last; i++) {
      if (!(t->frames[i].what & TG_FR_HIDDEN))
        p = tg_put32(p, t->frames[i].what & TG_FR_ID);
    }
    tg_assert(p == last);
  }
}

/* Their number, UINT32_MAX if they are too many to be listed. */
static uint32_t listed_frames (const tg_Session *s) {
  uint32_t frames = 0, threads = 0;
  for (const tg_Coroutine *t = s->current; t != NULL; t = t->resumer) {
    frames += tg_coroutine_visible(t);
    threads++;
  }
  return (frames <= TG_CONTEXT_FRAMES && threads <= TG_CONTEXT_THREADS)
         ? frames : UINT32_MAX;
}

/* The chain is linked from the innermost coroutine out and written the other
   way round: so from the end. */
uint8_t *tg_context_write (tg_Writer *r, uint8_t *p, bool *listed) {
  tg_Session *s = (tg_Session *)(void *)((char *)r
                                         - offsetof(tg_Session, writer));
  uint32_t n = chain_length(s);
  uint8_t *at = tg_put32(p, n) + 8 * (size_t)n, *end = at;
  for (tg_Coroutine *t = s->current; t != NULL && n > 0; t = t->resumer, n--) {
    at -= 8;
    tg_put32(tg_put32(at, t->id), tg_coroutine_visible(t));
    t->counted = r->epoch + 1;  /* the epoch that begins here */
  }
  tg_assert(n == 0 && at == p + 4);
  uint32_t frames = r->lists ? listed_frames(s) : UINT32_MAX;
  *listed = frames != UINT32_MAX;
  if (!*listed)
    return end;
  end = tg_put32(end, frames) + 4 * (size_t)frames;
  list_frames(s->current, end);
  return end;
}
