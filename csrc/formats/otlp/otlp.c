/*
** otlp.c - a trace as spans of OpenTelemetry, a line of JSON for each 512 of
** them (json.c). What a span is, is in spans.h.
**
** Memory: the calls that are open or wait. Without it the export's status says
** so.
*/
#include <string.h>

#include "formats/otlp/otlp.h"
#include "formats/otlp/spans.h"

typedef struct Document {
  tg_Export *x;
  tg_Buf missing;               /* owns */
  bool failed;                  /* there was no memory for that */
} Document;

/* A service is called by its script's name, wherever that lies: without
   directories and the ending of Lua's files. */
static const char *base_name (const char *path, size_t *size) {
  static const char ending[] = ".lua";
  const size_t n = sizeof ending - 1;
  const char *slash = path != NULL ? strrchr(path, '/') : NULL;
  const char *name = slash != NULL && slash[1] != '\0' ? slash + 1 : path;
  if (name == NULL || *name == '\0')
    name = "lua";
  *size = strlen(name);
  if (*size > n && memcmp(name + *size - n, ending, n) == 0)
    *size -= n;
  return name;
}

/* What all spans have in common; what is missing, as far as that is known where
   the batch begins. */
static void about (void *ud, tg_OtlpAttributes *resource) {
  Document *d = ud;
  const tg_Export *x = d->x;
  size_t size = 0;
  const char *name = base_name(x->program->name, &size);
  for (uint32_t i = 0; i < x->options.nresource; i++)
    tg_otlp_word(resource, x->options.resource[2 * i],
                 x->options.resource[2 * i + 1]);
  if (!tg_otlp_has(resource, "service.name"))
    tg_otlp_text(resource, "service.name", name, size);
  tg_otlpspans_about(resource, x->pid, x->program->lua);
  tg_buf_clear(&d->missing);
  tg_export_missing(x, &d->missing);
  d->failed = d->failed || d->missing.failed;
  if (d->missing.size > 0)
    tg_otlp_text(resource, "tracegrip.missing", d->missing.data,
                 d->missing.size);
}

static bool put_calls (tg_Export *x, tg_OtlpSpans *s) {
  tg_Packet p;
  while (tg_export_next(x, &p)) {
    if (!tg_otlpspans_add(s, &p, x->unfinished)
        || !tg_outfile_turn(x->out))
      return false;
  }
  return x->status == TG_OK;
}

/* Calls of coroutines that were not resumed any more. Those that were open were
   closed by tg_export_next. */
static void put_waiting (tg_Export *x, tg_OtlpSpans *s) {
  while (tg_otlpspans_close(s, x->end_ns)) {
    if (!tg_outfile_turn(x->out))
      return;
  }
}

tg_Status tg_format_otlp (tg_Export *x) {
  const tg_SpanContext *parent = &x->options.parent;
  Document d = {.x = x};
  tg_OtlpBatch batch = {
    .encoding = &tg_otlp_json, .out = &x->out->text, .scope = x->name,
    .about = about, .ud = &d
  };
  tg_OtlpSpans spans = {
    .batch = &batch, .functions = x->stream->functions,
    .literal = &x->literal, .wall_ns = x->wall_ns,
    .requests = x->options.requests
  };
  tg_otlpspans_begin(&spans, x->pid,
                     parent->id != 0 ? parent : NULL);
  tg_export_mark(x);
  if (put_calls(x, &spans)) {
    put_waiting(x, &spans);
    tg_otlpbatch_end(&batch);
  }
  if (x->status == TG_OK)
    x->status = d.failed ? TG_ERR_MEMORY : spans.status;
  tg_otlpspans_free(&spans);
  tg_otlpbatch_free(&batch);
  tg_buf_free(&d.missing);
  return x->status;
}
