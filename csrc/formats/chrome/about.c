/*
** about.c - see about.h. Called once by chrome.c, on the thread
** that writes; memory that is refused shows in the output's text.
*/
#include "formats/chrome/about.h"

#include <string.h>
#include <time.h>

#include "export/ticks.h"
#include "formats/chrome/v8profile.h"

static void put_text (tg_Buf *out, const char *key, const char *text) {
  if (text == NULL)
    return;
  tg_buf_addstr(out, key);
  tg_v8profile_put_string(out, text, strlen(text));
}

static void put_date (const tg_ChromeEvents *e) {
  char text[40];
  struct tm tm;
  time_t seconds = (time_t)((e->x->wall_ns + e->x->start_ns) / 1000000000);
  if (gmtime_r(&seconds, &tm) != NULL
      && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm) > 0)
    put_text(e->out, ",\"started\":", text);
}

static void put_count (tg_Buf *out, const char *key, uint64_t n) {
  tg_buf_addstr(out, key);
  tg_buf_addu64(out, n);
}

static void put_loss (const tg_ChromeEvents *e) {
  tg_Buf text = {0};
  tg_export_loss(e->x, &text);
  if (text.size > 0) {
    tg_buf_addstr(e->out, ",\"lost\":");
    tg_v8profile_put_string(e->out, text.data, text.size);
  }
  e->out->failed = e->out->failed || text.failed;
  tg_buf_free(&text);
}

void tg_chromeabout_put (const tg_ChromeEvents *e) {
  const tg_Export *x = e->x;
  put_text(e->out, "\n],\"displayTimeUnit\":\"ns\","
                   "\"otherData\":{\"exporter\":", "tracegrip " TG_VERSION);
  put_text(e->out, ",\"trace\":", x->name);
  put_text(e->out, ",\"program\":", x->program->name);
  put_text(e->out, ",\"lua\":", x->program->lua);
  put_date(e);
  put_count(e->out, ",\"calls\":", x->calls);
  if (tg_ticks_any(x))
    put_count(e->out, ",\"samples\":", tg_ticks_taken(x));
  if (x->left_out > 0) {
    put_count(e->out, ",\"leftOut\":", x->left_out);
    put_count(e->out, ",\"leftOutNs\":", x->hidden_ns);
  }
  if (x->folded > 0)
    put_count(e->out, ",\"folded\":", x->folded);
  if (x->bare > 0)
    put_count(e->out, ",\"withoutValues\":", x->bare);
  put_loss(e);
  tg_buf_addstr(e->out, "}}\n");
}
