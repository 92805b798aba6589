/* makers.c - see makers.h. */
#include "graph/makers.h"

#include "base/alloc.h"
#include "base/grow.h"

bool tg_makers_add_function (tg_Makers *m, tg_MakerFunction f) {
  if (!tg_grow(&m->functions, &m->cfunctions, m->nfunctions + 1,
               sizeof *m->functions))
    return false;
  m->functions[m->nfunctions++] = f;
  return true;
}

bool tg_makers_add (tg_Makers *m, tg_Maker maker) {
  tg_assert(maker.caller <= m->count);
  if (!tg_grow(&m->list, &m->capacity, m->count + 1, sizeof *m->list))
    return false;
  m->list[m->count++] = maker;
  return true;
}

bool tg_makers_set (tg_Makers *m, uint32_t node, tg_MakerId maker) {
  if (!tg_grow_zeroed(&m->of, &m->nof, node + 1, sizeof *m->of))
    return false;
  m->of[node] = maker;
  return true;
}

uint32_t tg_makers_known (const tg_Makers *m) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->nof; i++)
    n += m->of[i] != 0;
  return n;
}

/* From the last on, each before those that are there already. */
bool tg_makers_link (const tg_Makers *m, tg_MakerLinks *links) {
  size_t n = (size_t)m->count + 1;
  links->first = tg_calloc(2 * n, sizeof *links->first);
  if (links->first == NULL)
    return false;
  links->next = links->first + n;
  for (tg_MakerId id = m->count; id > 0; id--) {
    tg_MakerId caller = tg_makers_get(m, id)->caller;
    links->next[id] = links->first[caller];
    links->first[caller] = id;
  }
  return true;
}

void tg_makers_unlink (tg_MakerLinks *links) {
  tg_free(links->first);
  *links = (tg_MakerLinks){NULL, NULL};
}

tg_MakerId tg_makers_next (const tg_Makers *m, const tg_MakerLinks *links,
                           tg_MakerId id, uint32_t *rise) {
  *rise = 0;
  if (links->first[id] != 0)
    return links->first[id];
  for (; id != 0; id = tg_makers_get(m, id)->caller) {
    ++*rise;
    if (links->next[id] != 0)
      return links->next[id];
  }
  return 0;
}

void tg_makers_free (tg_Makers *m) {
  tg_free(m->functions);
  tg_free(m->list);
  tg_free(m->of);
  *m = (tg_Makers){.count = 0};
}
