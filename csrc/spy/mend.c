/* mend.c - see mend.h. */
#include "spy/mend.h"

#include "base/alloc.h"
#include "base/grow.h"

#define SITES 65536u            /* that are known at most */
#define LEAD 4u                 /* in a vote, that is enough, */
#define SEEN 32u                /* and votes, at most */
#define RESUMES UINT64_C(1)     /* what a function calls that resumes others */

void tg_spysites_free (tg_SpySites *t) {
  tg_free(t->list);
  tg_intmap_free(&t->places);
  tg_intmap_free(&t->guessed);
  tg_free(t->guesses);
  *t = (tg_SpySites){0};
}

/*
** {==================================================================
** C functions
** ===================================================================
*/

/* The instruction at which a caller is; 0: not known. */
static uint64_t site_of (const tg_SeenFrame *caller) {
  return (caller->is_c || caller->torn || caller->pc < 0)
         ? 0 : caller->begin + 4 * (uint64_t)caller->pc;
}

/* An instruction may call now one function and now another: the last one. */
static void learn_site (tg_SpySites *t, uint64_t site, const tg_SeenFrame *f) {
  uint32_t place = tg_intmap_find(&t->places, site);
  if (place == TG_INTMAP_NONE) {
    place = t->count;
    if (place == SITES
        || !tg_grow(&t->list, &t->capacity, place + 1, sizeof *t->list)
        || !tg_intmap_set(&t->places, site, place))
      return;
    t->count++;
  }
  t->list[place] = *f;
}

/* Whether the function is still there. */
static bool is_current (tg_Sight *s, const tg_SeenFrame *f) {
  uint64_t code;
  bool known;
  return tg_seen_is_c(s, f->function, &code, &known) && known
         && code == f->code;
}

static const tg_SeenFrame *by_site (const tg_SpySites *t, tg_Sight *s,
                                    uint64_t site) {
  uint32_t place = (site != 0) ? tg_intmap_find(&t->places, site)
                               : TG_INTMAP_NONE;
  return (place < t->count && is_current(s, &t->list[place]))
         ? &t->list[place] : NULL;
}

/* What is in its slot may have come there a little earlier, or later: that is
   better than nothing, and the function most likely that was seen there. */
static bool mend_c (const tg_SpySites *t, tg_Sight *s, tg_SeenFrame *f,
                    const tg_SeenFrame *caller) {
  const tg_SeenFrame *known = (caller != NULL)
                              ? by_site(t, s, site_of(caller)) : NULL;
  f->torn = false;
  if (known == NULL)
    return f->code != 0;
  f->is_c = true;
  f->function = known->function;
  f->code = known->code;
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Functions
** ===================================================================
*/

static void become (tg_SeenFrame *f, const tg_SpyCode *c) {
  int32_t place = (int32_t)((f->next - c->start) / 4);
  f->is_c = f->torn = false;
  f->function = c->frame.function;
  f->code = c->frame.code;
  f->source = c->frame.source;
  f->line = c->frame.line;
  f->begin = c->start;
  f->end = c->end;
  f->pc = (place > 0) ? place - 1 : 0;
  f->extra = 0;
}

/* 5.1 does not say of a frame whether it is of C. */
static bool says_c (const tg_Sight *s) {
  return !tg_sight_has(s, AT_STATE_NEXT);
}

/* While a C function runs, 5.1 has its caller's instruction for the next one:
   another function's comes first, whatever is in the slot. */
static bool is_doubtful (const tg_Sight *s, const tg_SeenFrame *f,
                         const tg_SeenFrame *caller, bool leaf) {
  return f->torn || (leaf && f->is_c && !says_c(s) && caller != NULL
                     && !caller->is_c);
}

static bool mend_frame (tg_SpySites *t, tg_SpyLeaves *l, tg_Sight *s,
                        tg_SeenFrame *f, const tg_SeenFrame *caller) {
  if (f->is_c && says_c(s))
    return mend_c(t, s, f, caller);
  const tg_SpyCode *owner = tg_spyleaves_owner(l, s, f->next);
  bool called = caller != NULL && owner != NULL
                && owner->frame.code == caller->code;
  if (!says_c(s) && (owner == NULL || called))
    return (f->is_c && !f->torn) || mend_c(t, s, f, caller);
  if (owner != NULL)
    become(f, owner);
  return owner != NULL;
}

/* Outermost first: what a caller calls is asked when that is known. */
static bool mend_frames (tg_SpySites *t, tg_SpyLeaves *l, tg_Sight *s,
                         tg_SeenFrame *frames, uint32_t count) {
  for (uint32_t i = count; i > 0; i--) {
    tg_SeenFrame *f = &frames[i - 1];
    const tg_SeenFrame *caller = (i < count) ? &frames[i] : NULL;
    if (is_doubtful(s, f, caller, i == 1) && !mend_frame(t, l, s, f, caller))
      return false;
  }
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Calls
** ===================================================================
*/

/* Of a C function that resumes coroutines nobody knows then whether it has. */
static bool may_have_resumed (const tg_SpyLeaves *l, const tg_SeenFrame *f) {
  return f->is_c && tg_spyleaves_calls(l, f->code, RESUMES);
}

static tg_SpyGuess *guess_of (tg_SpySites *t, uint64_t code) {
  uint32_t place = tg_intmap_find(&t->guessed, code);
  if (place != TG_INTMAP_NONE)
    return &t->guesses[place];
  place = t->nguesses;
  if (place == SITES
      || !tg_grow(&t->guesses, &t->guesses_capacity, place + 1,
                  sizeof *t->guesses)
      || !tg_intmap_set(&t->guessed, code, place))
    return NULL;
  t->guesses[t->nguesses++] = (tg_SpyGuess){0};
  return &t->guesses[place];
}

/* Whether a function is called from where it seems to be called now: a caller
   may be at its next call already. Of what leads by so much in a vote of two
   each (Boyer and Moore) that is as good as certain. */
static bool is_called_from (tg_SpySites *t, uint64_t site,
                            const tg_SeenFrame *f) {
  tg_SpyGuess *g = guess_of(t, f->code);
  if (g == NULL)
    return true;
  if (g->lead == 0)
    g->site = site;
  g->lead = (g->site == site) ? g->lead + 1 : g->lead - 1;
  g->seen++;
  return (g->lead >= LEAD || g->seen >= SEEN) && g->site == site;
}

/* The last certain frame is the only one that may have called the first open
   one; if it says so, of a leaf that was read whole, that is learned. All
   others are believed where they are known. */
static bool link (tg_SpySites *t, tg_SpyLeaves *l, tg_Sight *s,
                  const tg_SpyStack *k, bool whole, bool *news) {
  const tg_SeenFrame *frames = &k->frames[k->spans[k->nspans - 1].first];
  for (uint32_t i = k->open; i > 0; i--) {
    const tg_SeenFrame *f = &frames[i - 1], *caller = &frames[i];
    bool said = whole && i == k->open
                && tg_spystack_link(s, caller, f) == TG_LINK_SAID
                && is_called_from(t, site_of(caller), f);
    if (tg_spyleaves_calls(l, caller->code, f->code))
      continue;
    if (!said)
      return false;
    *news = tg_spyleaves_learn(l, caller->code, f->code) || *news;
  }
  return k->open == 0 || !may_have_resumed(l, &frames[0]);
}

/* Of a look that has nothing open, which C function is called from where. */
static void learn_leaf (tg_SpySites *t, const tg_SeenFrame *frames,
                        const tg_SpyStack *k) {
  uint32_t count = k->spans[k->nspans - 1].count;
  uint64_t site = (count > 1) ? site_of(&frames[1]) : 0;
  if (k->open == 0 && site != 0 && frames[0].is_c && !frames[0].torn)
    learn_site(t, site, &frames[0]);
}

/* Calls that are certain, and who resumes. */
static bool learn_calls (tg_SpyLeaves *l, const tg_SpyStack *k) {
  bool some = false;
  const tg_SpySpan *span = &k->spans[k->nspans - 1];
  const tg_SeenFrame *frames = &k->frames[span->first];
  for (uint32_t i = k->open + 1; i < span->count; i++)
    some = tg_spyleaves_learn(l, frames[i].code, frames[i - 1].code) || some;
  for (uint32_t n = 0; n + 1 < k->nspans; n++) {
    const tg_SeenFrame *f = &k->frames[k->spans[n].first];
    if (k->spans[n].count > 0 && f->is_c)
      tg_spyleaves_learn(l, f->code, RESUMES);
  }
  return some;
}

/* }================================================================== */

static bool resumers_are_whole (const tg_SpyStack *k, uint32_t end) {
  for (uint32_t i = 0; i < end; i++) {
    if (k->frames[i].torn)
      return false;
  }
  return true;
}

bool tg_spymend (tg_SpySites *t, tg_SpyLeaves *l, tg_Sight *s, tg_SpyStack *k,
                 bool *news) {
  if (k->count == 0)
    return true;
  const tg_SpySpan *span = &k->spans[k->nspans - 1];
  tg_SeenFrame *frames = &k->frames[span->first];
  if (!resumers_are_whole(k, span->first))
    return false;
  if (span->count == 0) {       /* the last one is in its host */
    *news = learn_calls(l, k);
    return true;
  }
  uint64_t leaf = frames[0].torn ? 0 : frames[0].code;
  learn_leaf(t, frames, k);
  if (!mend_frames(t, l, s, frames, span->count))
    return false;
  bool whole = frames[0].code == leaf;
  *news = whole && learn_calls(l, k);
  if (!link(t, l, s, k, whole, news))
    return false;
  k->open = 0;
  return true;
}
