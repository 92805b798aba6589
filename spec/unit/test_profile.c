/*
** test_profile.c - packets written by hand, and the report and the tree that
** they make.
**
** A packet is told as in test_minduration.c, behind its time: "10>a" enters a
** at 10, "30<a:y" leaves it by a yield (:x error, :t terminated), "50>a*"
** enters it again; "/2" at the end is the coroutine.
*/
#include "base/alloc.h"
#include "capture.h"
#include "profile/outcome.h"
#include "profile/profile.h"
#include "unit.h"

static tg_Functions *functions;
static tg_Buf told;

static tg_FunctionId add (const char *name, const char *url, uint32_t line) {
  tg_Function f = {.line = line};
  f.name = tg_strdup(name, strlen(name));
  f.url = tg_strdup(url, strlen(url));
  return tg_functions_add(functions, &f);
}

/* a to e have the ids 1 to 5; 6, told as f, is b once more. */
static void define_all (void) {
  functions = tg_functions_new();
  add("a", "x.lua", 1);
  add("b", "x.lua", 2);
  add("c", "x.lua", 3);
  add("d", "x.lua", 3);
  add("d", "y.lua", 3);
  add("b", "x.lua", 2);
}

static tg_Why why_of (char c) {
  return c == 'x' ? TG_WHY_EXCEPTION : c == 'y' ? TG_WHY_YIELD
       : c == 't' ? TG_WHY_TERMINATED : TG_WHY_RETURN;
}

/* One packet from its text; what follows it. */
static const char *parse (const char *s, tg_Packet *k) {
  char *p;
  memset(k, 0, sizeof *k);
  k->time_ns = strtoull(s, &p, 10);
  k->why = *p == '>' ? TG_WHY_ENTER : TG_WHY_RETURN;
  k->function = (tg_FunctionId)(p[1] - 'a' + 1);
  k->thread = 1;
  p += 2;
  if (*p == '*') {
    k->resumed = true;
    p++;
  }
  if (*p == ':') {
    k->why = why_of(p[1]);
    p += 2;
  }
  if (*p == '/')
    k->thread = (tg_ThreadId)strtoul(p + 1, &p, 10);
  while (*p == ' ')
    p++;
  return p;
}

static void take (tg_Profile *p, const char *packets) {
  tg_Packet k;
  while (*packets != '\0') {
    packets = parse(packets, &k);
    tg_profile_add(p, &k);
  }
}

static void tell_tally (const tg_Tally *t) {
  tg_buf_addfmt(&told, " %d %d/%d", (int)t->calls, (int)t->self_ns,
                (int)t->total_ns);
  if (t->throws > 0)
    tg_buf_addfmt(&told, " x%d", (int)t->throws);
  if (t->yields > 0)
    tg_buf_addfmt(&told, " y%d", (int)t->yields);
}

static void tell_name (const tg_Profile *p, uint32_t row) {
  tg_buf_addstr(&told, tg_profile_function(p, row)->name);
}

/* "name calls self/total min..max sum", and how many threw and yielded. */
static void tell_rows (const tg_Profile *p) {
  const tg_Row *rows[16];
  tg_outcome_sort_rows(p, rows);
  for (uint32_t i = 0; i < p->nrows; i++) {
    tg_buf_addstr(&told, i > 0 ? ", " : "");
    tell_name(p, (uint32_t)(rows[i] - p->rows));
    tell_tally(&rows[i]->tally);
    tg_buf_addfmt(&told, " %d..%d %d", (int)rows[i]->min_ns,
                  (int)rows[i]->max_ns, (int)rows[i]->sum_ns);
  }
}

/* Children after their parent, in brackets. */
static void tell_children (const tg_Profile *p, uint32_t parent) {
  const tg_Node *nodes[64];
  tg_outcome_sort_nodes(p, nodes);
  for (uint32_t i = 0; i + 1 < p->tree.count; i++) {
    uint32_t n = (uint32_t)(nodes[i] - p->tree.nodes);
    if (nodes[i]->parent != parent)
      continue;
    tg_buf_addchar(&told, '(');
    tell_name(p, nodes[i]->row);
    tell_tally(&nodes[i]->tally);
    tell_children(p, n);
    tg_buf_addchar(&told, ')');
  }
}

/* All self times and the idle time are the duration. */
static void check_sums (const tg_Profile *p, uint64_t duration) {
  uint64_t rows = p->idle_ns, nodes = 0;
  for (uint32_t i = 0; i < p->nrows; i++)
    rows += p->rows[i].tally.self_ns;
  for (uint32_t i = 0; i < p->tree.count; i++)
    nodes += p->tree.nodes[i].tally.self_ns;
  UNIT_CHECK(p->duration_ns == duration);
  UNIT_CHECK(rows == duration);
  UNIT_CHECK(nodes == duration);
}

static void run (const char *packets, uint64_t start, uint64_t end,
                 bool tree) {
  tg_Profile p;
  UNIT_CHECK(tg_profile_init(&p, functions, true));
  take(&p, packets);
  tg_profile_end(&p, start, end);
  UNIT_CHECK(p.status == TG_OK);
  check_sums(&p, end - start);
  if (tree)
    tell_children(&p, 0);
  else
    tell_rows(&p);
  tg_profile_free(&p);
}

/* From 0 to 'end'. */
#define REPORTS(packets, end, wanted) \
  (run((packets), 0, (end), false), UNIT_TEXT(&told, wanted))
#define GROWS(packets, end, wanted) \
  (run((packets), 0, (end), true), UNIT_TEXT(&told, wanted))

static void nothing (void) {
  REPORTS("", 100, "");
  GROWS("", 100, "");
  run("", 100, 100, false);
  UNIT_TEXT(&told, "");
}

static void nested (void) {
  static const char calls[] = "10>a 20>b 50<b 60>b 80<b 100<a";
  REPORTS(calls, 200, "b 2 50/50 20..30 50, a 1 40/90 90..90 90");
  GROWS(calls, 200, "(a 1 40/90(b 2 50/50))");
}

static void recursion (void) {
  static const char calls[] = "0>a 10>a 20>b 30>a 40<a 50<b 60<a 70<a";
  REPORTS(calls, 70, "a 3 50/70 10..70 130, b 1 20/30 30..30 30");
  GROWS(calls, 70, "(a 1 20/70(a 1 20/50(b 1 20/30(a 1 10/10))))");
}

static void errors (void) {
  static const char calls[] = "0>a 10>b 20>c 30<c:x 30<b:x 40>c 50<c 60<a:t";
  REPORTS(calls, 60, "a 1 30/60 60..60 60, c 2 20/20 x1 10..10 20, "
                     "b 1 10/20 x1 20..20 20");
}

/* The callee's parent is the caller's parent. */
static void tail_calls (void) {
  GROWS("0>a 10>b 20<b 20>c 40<c 50<a", 50,
        "(a 1 20/50(c 1 20/20)(b 1 10/10))");
}

/* One call of b and one of c, with three and two stays. */
static void yields (void) {
  static const char calls[] =
    "0>a 10>b/2 20>c/2 30<c:y/2 30<b:y/2 "
    "60>b*/2 60>c*/2 65<c/2 70<b:y/2 "
    "100>b*/2 101<b/2 110<a";
  REPORTS(calls, 110, "a 1 79/110 110..110 110, "
                      "b 1 16/31 y2 31..31 31, c 1 15/15 y1 15..15 15");
  GROWS(calls, 110, "(a 1 79/110(b 1 16/31 y2(c 1 15/15 y1)))");
}

/* Resumed from elsewhere: another way to the same call. */
static void moved (void) {
  GROWS("0>a 10>b/2 20<b:y/2 30<a 30>c 40>b*/2 60<b/2 70<c", 70,
        "(c 1 20/40(b 0 20/20))(a 1 20/30(b 1 10/10 y1))");
}

/* A frame that came from before has time but no call. */
static void unseen (void) {
  REPORTS("0>a 10>b*/2 30<b/2 40<a", 40,
          "a 1 20/40 40..40 40, b 0 20/20 0..0 0");
}

/* Calls that wait for ever have the time that they had; a coroutine that ends
   is forgotten, and the next one of that number is another. */
static void abandoned (void) {
  REPORTS("0>b/2 10<b:y/2 20>b/3 50<b:y/3", 100,
          "b 2 40/40 y2 10..30 40");
  REPORTS("0>b/2 10<b:y/2 20>b*/2 25<b/2 30>b/2 40<b:y/2 50>b*/2 51<b/2", 51,
          "b 2 26/26 y2 11..15 26");
}

/* c is hidden in the second stay, so it is not known when it comes again. */
static void hidden_between (void) {
  REPORTS("0>b/2 10>c/2 20<c:y/2 20<b:y/2 30>b*/2 40<b:y/2 "
          "50>b*/2 55>c*/2 60<c/2 70<b/2", 70,
          "b 1 35/50 y2 50..50 50, c 1 15/15 y1 10..10 10");
}

/* Two coroutines yield at one time: the inner one to the outer. */
static void chains (void) {
  REPORTS("0>a/2 10>b/3 20<b:y/3 20<a:y/2 30>a*/2 30>b*/3 40<b/3 50<a/2", 60,
          "a 1 20/40 y1 40..40 40, b 1 20/20 y1 20..20 20");
}

static void across_coroutines (void) {
  REPORTS("0>a 10>a/2 20>b/2 30<b/2 40<a/2 50<a", 50,
          "a 2 40/50 30..50 80, b 1 10/10 10..10 10");
}

static void open_at_the_end (void) {
  REPORTS("10>a 20>b 30<b 40>b", 100,
          "b 2 70/70 10..60 70, a 1 20/90 90..90 90");
}

static void bounds (void) {
  run("50>a 60<a", 40, 100, false);
  UNIT_TEXT(&told, "a 1 10/10 10..10 10");
}

/* b was defined twice; d of x.lua and d of y.lua are two. */
static void same_text (void) {
  REPORTS("0>b 10>f 20<f 30<b 30>d 40<d 40>e 60<e", 60,
          "b 2 30/30 10..30 40, d 1 20/20 20..20 20, d 1 10/10 10..10 10");
  GROWS("0>a 0>b 10<b 10>f 20<f 20<a", 20, "(a 1 0/20(b 2 20/20))");
}

/* More functions, coroutines and stacks than anything begins with. */
static void many (void) {
  enum { N = 3000 };
  tg_Profile p;
  char name[16];
  tg_Functions *few = functions;
  functions = tg_functions_new();
  for (uint32_t i = 1; i <= N; i++) {
    snprintf(name, sizeof name, "f%u", (unsigned)i);
    add(name, "many.lua", i);
  }
  UNIT_CHECK(tg_profile_init(&p, functions, true));
  for (uint32_t i = 1; i <= N; i++) {
    tg_Packet k = {.why = TG_WHY_ENTER, .function = i, .thread = i,
                   .time_ns = i};
    tg_profile_add(&p, &k);
  }
  for (uint32_t i = N; i >= 1; i--) {
    tg_Packet k = {.why = TG_WHY_YIELD, .function = i, .thread = i,
                   .time_ns = N + 1};
    tg_profile_add(&p, &k);
  }
  uint64_t now = N + 1;
  for (uint32_t i = 1; i <= N; i++) {
    tg_Packet k = {.why = TG_WHY_ENTER, .function = i, .thread = i,
                   .time_ns = now, .resumed = true};
    tg_profile_add(&p, &k);
    k.why = TG_WHY_RETURN;
    k.time_ns = now += i & 1;
    tg_profile_add(&p, &k);
    UNIT_CHECK(p.waiting.places.count == N - i);
  }
  tg_profile_end(&p, 1, now);
  UNIT_CHECK(p.nrows == N && p.tree.count == 2 * N);
  for (uint32_t i = 0; i < N; i++) {
    UNIT_CHECK(p.rows[i].tally.calls == 1);
    UNIT_CHECK(p.rows[i].min_ns == p.rows[i].max_ns);
    UNIT_CHECK(p.rows[i].sum_ns == p.rows[i].tally.total_ns);
  }
  tg_profile_free(&p);
  tg_functions_free(functions);
  functions = few;
}

/* Whichever allocation is refused, it says so and frees all. */
static void refused (void) {
  static const char calls[] =
    "0>a 10>b/2 20<b:y/2 30>b*/2 40<b:y/2 50>c 60<c 70<a";
  uint64_t n = 0;
  bool whole = false;
  while (!whole && ++n < 100) {
    tg_Profile p;
    tg_alloc_fail(n);
    whole = tg_profile_init(&p, functions, true);
    if (whole) {
      take(&p, calls);
      whole = p.status == TG_OK;
      tg_profile_end(&p, 0, 70);
    }
    tg_profile_free(&p);
  }
  tg_alloc_fail(0);
  UNIT_CHECK(n > 5 && n < 100);
}

int main (void) {
  define_all();
  UNIT_RUN(nothing);
  UNIT_RUN(nested);
  UNIT_RUN(recursion);
  UNIT_RUN(errors);
  UNIT_RUN(tail_calls);
  UNIT_RUN(yields);
  UNIT_RUN(moved);
  UNIT_RUN(unseen);
  UNIT_RUN(abandoned);
  UNIT_RUN(hidden_between);
  UNIT_RUN(chains);
  UNIT_RUN(across_coroutines);
  UNIT_RUN(open_at_the_end);
  UNIT_RUN(bounds);
  UNIT_RUN(same_text);
  UNIT_RUN(many);
  UNIT_RUN(refused);
  tg_buf_free(&told);
  tg_functions_free(functions);
  return UNIT_END();
}
