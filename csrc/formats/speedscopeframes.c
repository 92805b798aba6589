/*
** speedscopeframes.c - see speedscopeframes.h. For speedscope.c: asked with
** each packet, written when all are in. Memory that is refused gives no number,
** which whoever asked makes a failure of the export.
*/
#include "formats/speedscopeframes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "export/boxnames.h"
#include "export/jsontext.h"

/* Two kinds of frames, each with its own numbers: functions by their label,
   since definitions that read the same are one frame to a person; coroutines
   that are waited for by their place in the list. */
enum { A_FUNCTION, A_WAIT };

void tg_speedscopeframes_init (tg_SpeedscopeFrames *f,
                               const tg_Functions *functions) {
  memset(f, 0, sizeof *f);
  tg_funclabels_init(&f->labels, functions);
}

void tg_speedscopeframes_free (tg_SpeedscopeFrames *f) {
  tg_free(f->list);
  tg_free(f->of[A_FUNCTION]);
  tg_free(f->of[A_WAIT]);
  tg_funclabels_free(&f->labels);
}

/* The kind is kept in the lowest bit of the list's number. */
static TG_NOINLINE uint32_t new_frame (tg_SpeedscopeFrames *f, int kind,
                                       uint32_t number) {
  if (!tg_grow_zeroed(&f->of[kind], &f->cof[kind], number + 1,
                      sizeof *f->of[kind])
      || !tg_grow(&f->list, &f->capacity, f->count + 1, sizeof *f->list))
    return TG_INTMAP_NONE;
  f->list[f->count] = number * 2 + (kind == A_WAIT);
  f->of[kind][number] = ++f->count;
  return TG_NNOTES + f->count - 1;
}

TG_INLINE uint32_t frame_of (tg_SpeedscopeFrames *f, int kind,
                             uint32_t number) {
  if (tg_likely(number < f->cof[kind] && f->of[kind][number] != 0))
    return TG_NNOTES + f->of[kind][number] - 1;
  return number < UINT32_MAX / 2 ? new_frame(f, kind, number) : TG_INTMAP_NONE;
}

uint32_t tg_speedscopeframes_call (tg_SpeedscopeFrames *f, tg_FunctionId id) {
  uint32_t label = tg_funclabels_of(&f->labels, id);
  return label == TG_INTMAP_NONE ? label : frame_of(f, A_FUNCTION, label);
}

uint32_t tg_speedscopeframes_wait (tg_SpeedscopeFrames *f, uint32_t other) {
  return frame_of(f, A_WAIT, other);
}

/* Of a C function there is no file: speedscope shows its name alone. */
static void put_function (tg_Buf *out, const tg_Function *f) {
  tg_Buf label = {0};
  tg_boxname_label(f, &label);
  tg_buf_addstr(out, ",\n{\"name\":");
  tg_jsontext_string(out, label.data, label.size);
  out->failed = out->failed || label.failed;
  tg_buf_free(&label);
  if (!f->is_c && f->url != NULL) {
    tg_buf_addstr(out, ",\"file\":");
    tg_jsontext_string(out, f->url, strlen(f->url));
    tg_buf_addstr(out, ",\"line\":");
    tg_buf_addu64(out, tg_funclabels_line(f));
  }
  tg_buf_addchar(out, '}');
}

/* A frame for the time in which another coroutine runs: named by what that
   runs, and never taken for a function. */
static void put_waiting (const tg_Export *x, const tg_ThreadEntry *t) {
  tg_Buf *out = &x->out->text;
  tg_Buf name = {0};
  tg_buf_addstr(&name, "(in ");
  tg_boxname_thread(x, t->thread, t->first, &name);
  tg_buf_addchar(&name, ')');
  tg_buf_addstr(out, ",\n{\"name\":");
  tg_jsontext_string(out, name.data, name.size);
  tg_buf_addchar(out, '}');
  out->failed = out->failed || name.failed;
  tg_buf_free(&name);
}

/* After all events, when there are no more frames to come; profiles refer to
   them by their place. */
void tg_speedscopeframes_put (const tg_SpeedscopeFrames *f, const tg_Export *x,
                              const tg_ThreadList *threads) {
  tg_OutFile *out = x->out;
  tg_buf_addstr(&out->text, ",\"shared\":{\"frames\":[\n{\"name\":\"[error]\"},"
                "{\"name\":\"[unfinished]\"},{\"name\":\"[deeper calls]\"}");
  for (uint32_t i = 0; i < f->count && tg_outfile_turn(out); i++) {
    uint32_t number = f->list[i] / 2;
    if (f->list[i] % 2 != 0)
      put_waiting(x, &threads->list[number]);
    else
      put_function(&out->text, tg_funclabels_function(&f->labels, number));
  }
  tg_buf_addstr(&out->text, "]}");
}
