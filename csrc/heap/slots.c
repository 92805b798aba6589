/* slots.c - see slots.h. */
#include "heap/slots.h"

#include "base/alloc.h"
#include "heap/entries.h"
#include "outside/proto.h"
#include "outside/walk.h"

#define FRAMES 1000u    /* that are named */
#define SLOT 16u

typedef struct Stack {
  tg_Naming *n;
  tg_SeenState state;
  tg_SeenFrame *frames; /* owns; the innermost first */
  uint32_t count;
  tg_Buf text;          /* owns */
} Stack;

/* What its function is called, without its place. */
static void add_function (Stack *s, const tg_SeenFrame *f) {
  size_t size = 0;
  uint32_t object = tg_heap_object(s->n->heap, f->function);
  uint32_t name = (object != TG_NO_OBJECT) ? s->n->names[object] : TG_NO_NAME;
  if (name == TG_NO_NAME && !f->is_c) {         /* then its prototype's place */
    object = tg_heap_number(s->n->heap, f->code);
    name = (object != TG_NO_OBJECT) ? s->n->names[object] : TG_NO_NAME;
  }
  const char *text = (name != TG_NO_NAME)
                     ? tg_graph_text(s->n->graph, name, &size) : "?";
  if (name == TG_NO_NAME)
    size = 1;
  const char *blank = memchr(text, ' ', size);
  tg_buf_add(&s->text, text, blank != NULL ? (size_t)(blank - text) : size);
}

static uint32_t name_of (Stack *s, const tg_SeenFrame *f, uint64_t slot,
                         uint32_t *variable) {
  tg_SeenProto p;
  char local[128];
  *variable = TG_NO_NAME;
  tg_buf_clear(&s->text);
  if (slot == f->slot)
    tg_buf_addstr(&s->text, "call of ");
  else if (!f->is_c && slot >= f->base
           && tg_proto_read(&s->n->heap->sight, f->code, &p)
           && tg_proto_local(&s->n->heap->sight, &p,
                             (uint32_t)((slot - f->base) / SLOT), f->pc,
                             local, sizeof local)) {
    *variable = tg_graph_string(s->n->graph, local, strlen(local));
    tg_buf_addfmt(&s->text, "local %s of ", local);
  }
  else
    tg_buf_addstr(&s->text, f->is_c ? "argument of " : "temporary of ");
  add_function(s, f);
  return tg_graph_string(s->n->graph, s->text.data, s->text.size);
}

/* A Lua function that runs has its frame's slots, as the collector sees them;
   'top' is not kept for it. */
static uint64_t end_of (Stack *s) {
  tg_Heap *h = s->n->heap;
  uint64_t end = s->state.top;
  if (s->count > 0 && !s->frames[0].is_c
      && s->frames[0].frame == s->state.frame) {
    uint64_t top = tg_image_word(h->image, s->state.frame
                                           + tg_heap_row(h, AT_FRAME_TOP));
    end = (top > end && top <= s->state.last) ? top : end;
  }
  return end;
}

/* From the outermost frame on, since addresses go up. */
static void each_slot (Stack *s, tg_SlotUse *use, void *data) {
  uint32_t frame = s->count;
  uint64_t end = end_of(s);
  for (uint64_t slot = s->state.stack; slot < end; slot += SLOT) {
    tg_SeenValue v = tg_heap_slot(s->n->heap, slot);
    while (frame > 0 && slot >= s->frames[frame - 1].slot)
      frame--;
    if (tg_heap_object(s->n->heap, v) == TG_NO_OBJECT)
      continue;
    uint32_t name = TG_NO_NAME, variable = TG_NO_NAME;
    if (frame < s->count && slot >= s->frames[frame].slot)
      name = name_of(s, &s->frames[frame], slot, &variable);
    use(data, name, variable, v);
  }
}

void tg_slots_each (tg_Naming *n, uint64_t thread, tg_SlotUse *use,
                    void *data) {
  Stack s = {.n = n};
  if (!tg_state_read(&n->heap->sight, thread, &s.state))
    return;
  s.frames = tg_malloc(FRAMES * sizeof *s.frames);
  if (s.frames == NULL) {
    n->graph->failed = true;
    return;
  }
  tg_walk(&n->heap->sight, &s.state, s.frames, FRAMES, &s.count);
  each_slot(&s, use, data);
  tg_free(s.frames);
  tg_buf_free(&s.text);
}
