/*
** test_lines.c - packets and ticks written by hand, and what becomes of their
** lines: those of rows, and a tree of functions with lines.
**
** A packet is told behind its time: "10>a" calls a, "10>b@3" from line 3 of the
** innermost frame, "10+b@3" is a frame that samples show, "30<b" leaves it. A
** tick is "20!3.7=5": the open frames are at lines 3 and 7, and it stands for
** 5 ns; "=5h": the filter hides what ran; "=5b": b ran, between two events.
*/
#include "base/alloc.h"
#include "capture.h"
#include "profile/outcome.h"
#include "profile/profilelines.h"
#include "unit.h"

#define DEEP 16

static tg_Functions *functions;
static tg_Buf told;
static tg_FunctionId stack[DEEP];
static uint32_t depth;
static uint32_t lines[DEEP];

/* a to e are functions of Lua with the ids 1 to 5, f is one of C. */
static void define_all (void) {
  functions = tg_functions_new();
  for (char c = 'a'; c <= 'f'; c++) {
    tg_Function f = {.line = (uint32_t)(c - 'a') * 10 + 1, .is_c = c == 'f'};
    f.name = tg_strdup(&c, 1);
    f.url = tg_strdup("x.lua", 5);
    tg_functions_add(functions, &f);
  }
}

static const char *parse_tick (const char *s, tg_Packet *k) {
  char *p = (char *)(uintptr_t)s;
  uint32_t n = 0;
  k->why = TG_WHY_TICK;
  while (*p != '=')
    lines[n++] = (uint32_t)strtoul(p + 1, &p, 10);
  k->depth = n;
  k->values = (tg_Slice){.data = (const uint8_t *)lines,
                         .size = n * sizeof *lines};
  k->hits = strtoull(p + 1, &p, 10);
  if (*p == 'h')
    k->function = TG_FUNCTION_HIDDEN;
  else if (*p >= 'a' && *p <= 'e')
    k->function = (tg_FunctionId)(*p - 'a' + 1);
  return p + (k->function != 0);
}

static const char *parse_frame (const char *s, tg_Packet *k) {
  char *p = (char *)(uintptr_t)s + 2;
  bool enters = *s != '<';
  k->function = (tg_FunctionId)(s[1] - 'a' + 1);
  k->why = enters ? TG_WHY_ENTER : TG_WHY_RETURN;
  k->sampled = *s == '+';
  if (*p == '@') {
    k->caller = stack[depth - 1];
    k->line = (uint32_t)strtoul(p + 1, &p, 10);
  }
  if (enters)
    stack[depth++] = k->function;
  else
    depth--;
  return p;
}

static void take (tg_Profile *p, const char *s) {
  depth = 0;
  while (*s != '\0') {
    tg_Packet k = {.thread = 1};
    char *rest;
    k.time_ns = strtoull(s, &rest, 10);
    s = *rest == '!' ? parse_tick(rest, &k) : parse_frame(rest, &k);
    s += strspn(s, " ");
    tg_profile_add(p, &k);
  }
}

static const char *name_of (const tg_Profile *p, uint32_t row) {
  const char *name = tg_profile_function(p, row)->name;
  return name != NULL ? name : "?";
}

/* "a:3 self/total", with its calls, if there are any; children in brackets. */
static void tell_children (const tg_Profile *p, uint32_t parent) {
  const tg_Node *nodes[64];
  tg_outcome_sort_nodes(p, nodes);
  for (uint32_t i = 0; i + 1 < p->tree.count; i++) {
    const tg_Node *n = nodes[i];
    tg_Spot spot = tg_profilelines_spot(p, n);
    if (n->parent != parent)
      continue;
    tg_buf_addfmt(&told, "(%s", name_of(p, spot.of));
    if (spot.line > 0)
      tg_buf_addfmt(&told, ":%d", (int)spot.line);
    tg_buf_addfmt(&told, " %d/%d", (int)n->tally.self_ns,
                  (int)n->tally.total_ns);
    if (n->tally.calls > 0)
      tg_buf_addfmt(&told, " x%d", (int)n->tally.calls);
    tell_children(p, (uint32_t)(n - p->tree.nodes));
    tg_buf_addchar(&told, ')');
  }
}

/* "a:3 self samples", with the calls that it made. */
static void tell_lines (const tg_Profile *p) {
  tg_RowLines l;
  UNIT_CHECK(tg_rowlines_make(&l, p));
  for (uint32_t i = 0; i < l.count; i++) {
    tg_buf_addfmt(&told, "%s%s:%d %d %d", i > 0 ? ", " : "",
                  name_of(p, l.list[i].row), (int)l.list[i].line,
                  (int)l.list[i].self_ns, (int)l.list[i].samples);
    if (l.list[i].calls > 0)
      tg_buf_addfmt(&told, " x%d", (int)l.list[i].calls);
  }
  tg_rowlines_free(&l);
}

/* What lines have is what their rows and nodes have, or less. */
static void check_sums (const tg_Profile *p) {
  uint64_t nodes = 0;
  for (uint32_t i = 0; i < p->tree.count; i++)
    nodes += p->tree.nodes[i].tally.self_ns;
  UNIT_CHECK(p->tree.count == 0 || nodes == p->duration_ns);
  for (uint32_t i = 1; i < p->tree.count; i++)
    UNIT_CHECK(p->tree.nodes[i].parent < i);
}

static void run (const char *packets, tg_Ticks ticks, uint64_t end,
                 bool tree, uint32_t levels) {
  tg_Profile p;
  UNIT_CHECK(tg_profile_init(&p, functions, tree));
  UNIT_CHECK(tg_profile_tick(&p, ticks));
  tg_profile_lines(&p, tree ? TG_LINED_TREE : TG_LINED_ROWS);
  p.levels = levels;
  take(&p, packets);
  tg_profile_end(&p, 0, end);
  UNIT_CHECK(p.status == TG_OK);
  check_sums(&p);
  if (tree)
    tell_children(&p, 0);
  else
    tell_lines(&p);
  tg_profile_free(&p);
}

#define LINES(packets, ticks, end, wanted) \
  (run((packets), (ticks), (end), false, 99), UNIT_TEXT(&told, wanted))
#define GROWS(packets, ticks, end, wanted) \
  (run((packets), (ticks), (end), true, 99), UNIT_TEXT(&told, wanted))

static void nothing (void) {
  LINES("", TG_TICKS_ONLY, 10, "");
  GROWS("", TG_TICKS_ONLY, 10, "");
  GROWS("", TG_TICKS_BESIDE, 10, "");
}

/* One frame of b for two calls of it. */
static const char twice[] =
  "0+a 0+b@3 10!3.12=10 20!3.13=10 30!4.12=10 30<b 40!5=10 40<a";

static void samples_alone (void) {
  LINES(twice, TG_TICKS_ONLY, 40, "a:5 10 1, b:12 20 2, b:13 10 1");
  GROWS(twice, TG_TICKS_ONLY, 40,
        "(a:3 0/20(b:12 10/10)(b:13 10/10))(a:4 0/10(b:12 10/10))"
        "(a:5 10/10)");
}

/* What is below a frame goes with it to another line of its caller. */
static void below (void) {
  GROWS("0+a 0+b@3 0+c@12 10!3.12.22=10 20!4.12.22=10 20<c 20<b 20<a",
        TG_TICKS_ONLY, 20,
        "(a:3 0/10(b:12 0/10(c:22 10/10)))(a:4 0/10(b:12 0/10(c:22 10/10)))");
}

/* Functions of C have no line, nor has what is not known. */
static void without (void) {
  static const char calls[] =
    "0+a 0+f@3 10!3.0=10 10<f 20!0=10 30!4=10 30<a";
  LINES(calls, TG_TICKS_ONLY, 30, "a:0 10 1, a:4 10 1");
  GROWS(calls, TG_TICKS_ONLY, 30, "(a:3 0/10(f 10/10))(a 10/10)(a:4 10/10)");
}

static void hidden (void) {
  static const char calls[] = "0+a 10!3=10h 20!3=10 20<a";
  LINES(calls, TG_TICKS_ONLY, 20, "a:3 10 1");
  run(calls, TG_TICKS_ONLY, 20, true, 99);
  UNIT_CHECK(told.size > 0 && strstr(told.data, "(a:3 10/20(") == told.data);
  tg_buf_clear(&told);
}

/* What ran between the events of a call is below the line that called. */
static void passing (void) {
  static const char calls[] = "0+a 10!3=10b 20!3=10 20<a";
  LINES(calls, TG_TICKS_ONLY, 20, "a:3 10 1, b:0 10 1");
  GROWS(calls, TG_TICKS_ONLY, 20, "(a:3 10/20(b 10/10))");
}

/* Deeper frames are part of the frame at the last level, at its line. */
static void levels (void) {
  run("0+a 0+b@3 0+c@12 10!3.12.22=10 20!4.13.22=10 20<c 20<b 20<a",
      TG_TICKS_ONLY, 20, true, 2);
  UNIT_TEXT(&told, "(a:3 0/10(b:12 10/10))(a:4 0/10(b:13 10/10))");
}

/* The exact time of both calls of b, divided by its lines; calls without a tick
   have no line. */
static const char beside[] =
  "0>a 10>b@3 40!3.12=40 50!3.13=10 50<b 60>c@4 70<c 80!5=30 80<a";

static void calls (void) {
  LINES(beside, TG_TICKS_BESIDE, 80,
        "a:5 30 1, a:3 0 0 x1, a:4 0 0 x1, b:12 32 1, b:13 8 1");
  GROWS(beside, TG_TICKS_BESIDE, 80,
        "(a:3 0/40 x1(b:12 32/32 x1)(b:13 8/8))(a:5 30/30)(a:4 0/10"
        "(c 10/10 x1))");
}

/* A call is of the line that made it, whatever a later tick says of another one
   of its caller. */
static void mixed (void) {
  GROWS("0>a 10>b@3 20<b 20>b@4 20+c@14 50!4.14.22=50 60!4.15.22=10 60<c "
        "60<b 60<a", TG_TICKS_BESIDE, 60,
        "(a:4 0/40 x1(b:14 0/33 x1(c:22 33/33))(b:15 0/7(c:22 7/7)))"
        "(a:3 0/10(b 10/10 x1))(a 10/10)");
}

/* The caller is one that a filter hides: its line is not that of a. */
static void foreign (void) {
  tg_Profile p;
  tg_Packet enter_a = {.why = TG_WHY_ENTER, .function = 1, .thread = 1};
  tg_Packet enter_b = {.why = TG_WHY_ENTER, .function = 2, .thread = 1,
                       .caller = 3, .line = 22};
  UNIT_CHECK(tg_profile_init(&p, functions, true));
  UNIT_CHECK(tg_profile_tick(&p, TG_TICKS_BESIDE));
  tg_profile_lines(&p, TG_LINED_TREE);
  tg_profile_add(&p, &enter_a);
  tg_profile_add(&p, &enter_b);
  tg_profile_end(&p, 0, 10);
  tell_children(&p, 0);
  UNIT_TEXT(&told, "(a 0/10 x1(b 10/10 x1))");
  tg_profile_free(&p);
}

/* The same stacks at random, counted by a list of their texts. */
enum { MOST = 4096 };
typedef struct Model {
  char path[MOST][48];
  uint64_t ns[MOST];
  uint32_t n;
} Model;
static Model model;

static void count (const char *path, uint64_t ns) {
  uint32_t i = 0;
  while (i < model.n && strcmp(model.path[i], path) != 0)
    i++;
  if (i == model.n)
    snprintf(model.path[model.n++], sizeof *model.path, "%s", path);
  model.ns[i] += ns;
}

static void path_of (const tg_Profile *p, uint32_t node, char *to,
                     size_t size) {
  char below[48] = "";
  for (; node != 0; node = p->tree.nodes[node].parent) {
    tg_Spot s = tg_profilelines_spot(p, &p->tree.nodes[node]);
    snprintf(to, size, "%s%d%s", name_of(p, s.of), (int)s.line, below);
    snprintf(below, sizeof below, "%s", to);
  }
}

/* A frame of each of a, b, c, which stays where it is while its lines go to and
   fro. */
static void random_lines (void) {
  uint64_t seed = 11, now = 0;
  tg_Profile p;
  model.n = 0;
  UNIT_CHECK(tg_profile_init(&p, functions, true));
  UNIT_CHECK(tg_profile_tick(&p, TG_TICKS_ONLY));
  tg_profile_lines(&p, TG_LINED_TREE);
  take(&p, "0+a 0+b@1 0+c@1");
  for (int i = 0; i < 3000; i++) {
    char path[48];
    uint64_t ns = unit_random(&seed) % 50 + 1;
    for (int k = 0; k < 3; k++)
      lines[k] = unit_random(&seed) % 4 + 1;
    tg_Packet tick = {.why = TG_WHY_TICK, .time_ns = now += ns, .depth = 3,
                      .hits = ns,
                      .values = {.data = (const uint8_t *)lines,
                                 .size = 3 * sizeof *lines}};
    snprintf(path, sizeof path, "a%db%dc%d", (int)lines[0], (int)lines[1],
             (int)lines[2]);
    count(path, ns);
    tg_profile_add(&p, &tick);
  }
  tg_profile_end(&p, 0, now);
  for (uint32_t i = 1; i < p.tree.count; i++) {
    char path[48];
    if (p.tree.nodes[i].tally.self_ns == 0)
      continue;
    path_of(&p, i, path, sizeof path);
    uint32_t k = 0;
    while (k < model.n && strcmp(model.path[k], path) != 0)
      k++;
    UNIT_CHECK(k < model.n && model.ns[k] == p.tree.nodes[i].tally.self_ns);
    model.ns[k] = 0;
  }
  for (uint32_t k = 0; k < model.n; k++)
    UNIT_CHECK(model.ns[k] == 0);
  tg_profile_free(&p);
}

/* Whichever allocation is refused, it says so and frees all. */
static void refused_of (const char *packets, tg_Ticks ticks, bool tree) {
  uint64_t n = 0;
  bool whole = false;
  while (!whole && ++n < 200) {
    tg_Profile p;
    tg_RowLines l = {0};
    tg_alloc_fail(n);
    whole = tg_profile_init(&p, functions, tree)
            && tg_profile_tick(&p, ticks);
    if (whole) {
      tg_profile_lines(&p, tree ? TG_LINED_TREE : TG_LINED_ROWS);
      take(&p, packets);
      tg_profile_end(&p, 0, 80);
      whole = p.status == TG_OK && (tree || tg_rowlines_make(&l, &p));
    }
    tg_alloc_fail(0);
    tg_rowlines_free(&l);
    tg_profile_free(&p);
  }
  UNIT_CHECK(n > 5 && n < 200);
}

static void refused (void) {
  refused_of(twice, TG_TICKS_ONLY, false);
  refused_of(twice, TG_TICKS_ONLY, true);
  refused_of(beside, TG_TICKS_BESIDE, false);
  refused_of(beside, TG_TICKS_BESIDE, true);
}

int main (void) {
  define_all();
  UNIT_RUN(nothing);
  UNIT_RUN(samples_alone);
  UNIT_RUN(below);
  UNIT_RUN(without);
  UNIT_RUN(hidden);
  UNIT_RUN(passing);
  UNIT_RUN(levels);
  UNIT_RUN(calls);
  UNIT_RUN(mixed);
  UNIT_RUN(foreign);
  UNIT_RUN(random_lines);
  UNIT_RUN(refused);
  tg_buf_free(&told);
  tg_functions_free(functions);
  return UNIT_END();
}
