/*
** v8profile.c - see v8profile.h. For cpuprofile.c and samples.c. Memory
** that is refused shows in the profile's status, which whoever writes the
** document looks at in the end.
**
** The two write what V8's profiler writes, in two ways of putting it: so nodes,
** frames and the moments of samples are made in one place, here. One thread,
** that of the format.
*/
#include "formats/chrome/v8profile.h"

#include <string.h>

#include "export/boxnames.h"
#include "export/export.h"
#include "export/jsontext.h"
#include "export/ticks.h"
#include "profile/linetimes.h"

bool tg_v8profile_init (tg_V8Profile *v, tg_Export *x, bool ticks) {
  memset(v, 0, sizeof *v);
  v->x = x;
  v->ticks = ticks;
  if (ticks)
    tg_ticks_ask(x);
  return tg_profile_init(&v->profile, x->stream->functions, true);
}

void tg_v8profile_free (tg_V8Profile *v) {
  tg_profile_free(&v->profile);
  tg_intern_free(&v->urls);
}

/*
** {==================================================================
** Samples
** ===================================================================
*/

/* As if frames had been opened there: where the first one opens at once,
   nothing is before it. */
void tg_v8profile_start (tg_V8Profile *v, uint64_t start_ns) {
  v->latest = (tg_V8Sample){.at_ns = start_ns};
  v->time_ns = start_ns;
  v->opening = true;
}

/* The latest sample is over: from now on there is another, a nanosecond later
   than it at least. */
static void next_sample (tg_V8Profile *v, uint64_t time_ns) {
  uint64_t after_ns = v->latest.at_ns + 1;
  v->latest.at_ns = time_ns > after_ns ? time_ns : after_ns;
}

/* One sample behind: only the packet after it tells whether a stack lasted, or
   was on the way to another one at the same moment. */
static bool add_frame (tg_V8Profile *v, const tg_Packet *p, tg_V8Sample *out) {
  bool opening = p->why == TG_WHY_ENTER;
  bool same = p->time_ns == v->time_ns && opening == v->opening;
  *out = v->latest;
  tg_profile_add(&v->profile, p);
  if (!same)
    next_sample(v, p->time_ns);
  v->latest.node = tg_profile_node(&v->profile);
  v->time_ns = p->time_ns;
  v->opening = opening;
  return !same;
}

/* The innermost frame that two stacks have in common: a parent's number is less
   than its child's. */
static uint32_t common_of (const tg_V8Profile *v, uint32_t a, uint32_t b) {
  const tg_Node *nodes = v->profile.tree.nodes;
  while (a != b) {
    uint32_t *later = a > b ? &a : &b;
    tg_assert(nodes[*later].parent < *later);
    *later = nodes[*later].parent;
  }
  return a;
}

static uint64_t later_of (uint64_t a_ns, uint64_t b_ns) {
  return a_ns > b_ns ? a_ns : b_ns;
}

/* A sample of the stack that is open now, from the moment when it ran. Before
   it, if the program slept, a sample of the root; or, if the stacks before and
   after touch, the frames that both have in common, for a nanosecond: that
   keeps their calls apart (v8profile.h). */
static uint32_t add_tick (tg_V8Profile *v, const tg_Packet *p,
                          tg_V8Sample out[2]) {
  uint32_t node = tg_profile_node(&v->profile), open = v->profile.nopen;
  uint64_t begin_ns = tg_ticks_begin(p, v->time_ns);
  bool slept = begin_ns > v->time_ns;
  uint32_t between = slept ? 0 : common_of(v, v->latest.node, node);
  bool apart = slept || (between != node && between != v->latest.node);
  uint64_t at_ns = later_of(v->time_ns, v->latest.at_ns);
  out[0] = (tg_V8Sample){.at_ns = at_ns, .node = between};
  out[apart] = (tg_V8Sample){
    .at_ns = later_of(begin_ns, at_ns + apart), .node = node,
    .line = open > 0 ? tg_linetimes_line(p, open - 1) : 0,
    .ticks = tg_ticks_count(v->x, p->time_ns - begin_ns)
  };
  v->latest = out[apart];
  v->time_ns = p->time_ns;
  return 1 + apart;
}

uint32_t tg_v8profile_add (tg_V8Profile *v, const tg_Packet *p,
                           tg_V8Sample out[2]) {
  tg_assert(p->time_ns >= v->time_ns);
  tg_assert(v->ticks || p->why != TG_WHY_TICK);
  if (!v->ticks)
    return add_frame(v, p, out);
  if (p->why == TG_WHY_TICK)
    return add_tick(v, p, out);
  tg_profile_add(&v->profile, p);
  return 0;
}

/* The sample that was held back, then a sample of the root, in which nothing
   runs. A sample lasts until the next one, so without the root's the last
   sample would have no length. */
void tg_v8profile_end (tg_V8Profile *v, uint64_t start_ns, uint64_t end_ns,
                       tg_V8Sample out[2]) {
  if (v->ticks)           /* behind the last tick nothing is known */
    v->latest = (tg_V8Sample){
      .at_ns = later_of(v->time_ns, v->latest.at_ns)
    };
  out[0] = v->latest;
  tg_profile_end(&v->profile, start_ns, end_ns);
  next_sample(v, end_ns);
  out[1] = (tg_V8Sample){.at_ns = v->latest.at_ns};
}

/* }================================================================== */

/*
** {==================================================================
** Text
** ===================================================================
*/

#define SCOPE ",\"scriptId\":\""

/* Lines and columns count from 0; -1 is none. */
static void put_place (tg_V8Profile *v, const tg_Function *f, tg_Buf *out) {
  if (f->is_c || f->url == NULL) {
    tg_buf_addstr(out, SCOPE "0\",\"url\":\"\",\"lineNumber\":-1,"
                       "\"columnNumber\":-1}");
    return;
  }
  tg_Buf path = {0};
  tg_boxname_path(v->x, f, &path);
  tg_buf_addchar(&path, '\0');
  if (path.failed) {
    out->failed = true;
    tg_buf_free(&path);
    return;
  }
  path.size--;
  uint32_t script = tg_intern_add(&v->urls, path.data, path.size);
  if (script == TG_INTMAP_NONE)
    v->profile.status = TG_ERR_MEMORY;
  tg_buf_addstr(out, SCOPE);
  tg_buf_addu64(out, script + UINT64_C(1));
  tg_buf_addstr(out, "\",\"url\":");
  tg_v8profile_put_string(out, path.data, path.size);
  tg_buf_free(&path);
  tg_buf_addstr(out, ",\"lineNumber\":");
  tg_buf_addu64(out, tg_funclabels_line(f) - 1);
  tg_buf_addstr(out, ",\"columnNumber\":0}");
}

/* V8's own names: readers know "(root)", and that a script's number is text.
   Node 0 of the tree is the root, which has no function. */
void tg_v8profile_put_frame (tg_V8Profile *v, uint32_t node, tg_Buf *out) {
  static const tg_Function root = {.is_c = true};
  const tg_Profile *p = &v->profile;
  tg_assert(node < p->tree.count);
  const tg_Function *f
      = node == 0 ? &root : tg_profile_function(p, p->tree.nodes[node].row);
  tg_buf_addstr(out, "\"callFrame\":{\"functionName\":");
  if (node == 0)
    tg_buf_addstr(out, "\"(root)\"");
  else
    tg_v8profile_put_label(out, f);
  put_place(v, f, out);
}

/* DevTools looks for this word anywhere in the text of the file, and opens a
   file with it as one of another kind. */
#define WORD "enhancedTraceVersion"

/* From 'at' on, where a whole string stands: the word may be anywhere in it,
   and more than once. An escape says the same in JSON. */
void tg_v8profile_clean (tg_Buf *out, size_t at) {
  static const char escaped[] = "\\u0065";   /* its 'e' */
  const char *found;
  while (!out->failed
         && (found = memmem(out->data + at, out->size - at, WORD,
                            sizeof WORD - 1)) != NULL) {
    at = (size_t)(found - out->data);
    size_t tail = out->size - at - 1;
    tg_assert(out->data[at] == 'e');
    if (!tg_buf_reserve(out, sizeof escaped))
      return;
    memmove(out->data + at + sizeof escaped - 1, out->data + at + 1, tail);
    memcpy(out->data + at, escaped, sizeof escaped - 1);
    out->size += sizeof escaped - 2;
  }
}

void tg_v8profile_put_string (tg_Buf *out, const char *s, size_t size) {
  size_t at = out->size;
  tg_jsontext_string(out, s, size);
  tg_v8profile_clean(out, at);
}

void tg_v8profile_put_label (tg_Buf *out, const tg_Function *f) {
  tg_Buf label = {0};
  tg_boxname_label(f, &label);
  tg_v8profile_put_string(out, label.data, label.size);
  out->failed = out->failed || label.failed;
  tg_buf_free(&label);
}

/* }================================================================== */
