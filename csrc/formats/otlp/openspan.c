/*
** openspan.c - see openspan.h. Called by spans.c.
*/
#include "formats/otlp/openspan.h"

#include "base/alloc.h"
#include "base/grow.h"
#include "export/boxnames.h"

#define LINKS 128u              /* of a span: OpenTelemetry's own limit */
#define STACK 64u               /* calls of a traceback that are told */

/* A request's span has no request of its own: one recursion at most. */
void tg_openspan_free (tg_OpenSpan *o) {
  if (o == NULL)
    return;
  tg_openspan_free(o->request);
  tg_free(o->arguments);
  tg_free(o->links);
  tg_free(o);
}

bool tg_openspan_link (tg_OpenSpan *o, const tg_SpanContext *to) {
  if (o->nlinks == LINKS) {
    o->dropped++;
    return true;
  }
  if (!tg_grow(&o->links, &o->clinks, o->nlinks + 1, sizeof *o->links))
    return false;
  o->links[o->nlinks++] = *to;
  return true;
}

/* One of a traceback's lines, as Lua writes them. */
static void put_frame (tg_Buf *out, const tg_Function *f, uint32_t line) {
  if (f == NULL || f->is_c || f->url == NULL)
    tg_buf_addstr(out, "\n\t[C]: in function '");
  else if (line > 0)
    tg_buf_addfmt(out, "\n\t%s:%u: in function '", f->url, (unsigned)line);
  else
    tg_buf_addfmt(out, "\n\t%s: in function '", f->url);
  tg_boxname_label(f, out);
  tg_buf_addchar(out, '\'');
}

/* At which line a call is tells the call that it has made; of the innermost the
   error's message does. */
void tg_openspan_stack (tg_OpenSpan *const *open, uint32_t count,
                        const tg_Functions *functions, tg_Buf *out) {
  const tg_OpenSpan *inner = NULL;
  tg_buf_clear(out);
  tg_buf_addstr(out, "stack traceback:");
  for (uint32_t i = count; i-- > 0 && count - i <= STACK; ) {
    const tg_OpenSpan *o = open[i];
    put_frame(out, tg_functions_find(functions, o->function),
              inner != NULL && inner->caller == o->function ? inner->line : 0);
    inner = o;
  }
  if (count > STACK)
    tg_buf_addstr(out, "\n\t...");
}
