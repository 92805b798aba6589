/*
** packetmemo.c - see packetmemo.h.
**
** Called by packet.c, on whatever thread writes the packet. What is refused for
** want of memory, or is too much, is made anew each time. Nothing is ever
** replaced: a function's definition is constant once it is there (functions.h).
*/
#include "packet/packetmemo.h"

#include "base/alloc.h"

#define TEXT_MAX 256u                   /* bytes of one part */
#define TEXTS_MAX ((size_t)1 << 18)     /* and of all */

tg_PacketMemo *tg_packetmemo_new (bool off) {
  tg_PacketMemo *m = tg_calloc(1, sizeof *m);
  if (m != NULL)
    m->arguments.off = m->results.off = off;
  return m;
}

void tg_packetmemo_free (void *memo) {
  tg_PacketMemo *m = memo;
  if (m != NULL)
    tg_buf_free(&m->texts);
  tg_free(m);
}

/* False: the part is not kept yet; the caller writes it and keeps it. */
bool tg_packetmemo_put (tg_PacketMemo *m, tg_PacketPart part,
                        tg_FunctionId f) {
  tg_assert(part < TG_PARTS);
  if (f >= TG_MEMO_FUNCTIONS || m->parts[f][part].size == 0)
    return false;
  const tg_MemoText *text = &m->parts[f][part];
  tg_assert(text->at + (size_t)text->size <= m->texts.size);
  tg_buf_add(m->json, m->texts.data + text->at, text->size);
  return true;
}

/* A part that an earlier memory refusal has cut is not remembered: it would be
   cut for ever. */
void tg_packetmemo_keep (tg_PacketMemo *m, tg_PacketPart part, tg_FunctionId f,
                         size_t at) {
  tg_check(at <= m->json->size && part < TG_PARTS);
  size_t size = m->json->size - at;
  if (m->json->failed || size > TEXT_MAX || f >= TG_MEMO_FUNCTIONS
      || m->texts.size + size > TEXTS_MAX)
    return;
  size_t start = m->texts.size;
  tg_buf_add(&m->texts, m->json->data + at, size);
  if (!m->texts.failed)
    m->parts[f][part] = (tg_MemoText){(uint32_t)start, (uint32_t)size};
}
