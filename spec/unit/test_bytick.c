/*
** test_bytick.c - packets and ticks written by hand, and the tree in which
** calls' time is divided as ticks say.
**
** Behind its time a packet is: ">a" a call of a, "~a" a frame of a that samples
** show, "<a" the end of either, "!8" a tick that stands for 8. A tick may go on
** with "=b": what ran is in no frame that is open, "=?": hidden; with "+3": it
** is told apart, and so much was the hook's; "%2": of each call of Lua ticks
** meet so much too much; "~30": for so long others had the processor; "w": it
** is in a window. "@7" at the end of any: what tracing has taken by then.
*/
#include <math.h>

#include "base/alloc.h"
#include "capture.h"
#include "profile/outcome.h"
#include "profile/profile.h"
#include "unit.h"

static tg_Functions *functions;
static tg_Buf told;

static void add (const char *name, bool is_c, bool known) {
  tg_Function f = {.line = is_c ? 0 : 1, .is_c = is_c, .known = known};
  f.name = tg_strdup(name, strlen(name));
  f.url = is_c ? NULL : tg_strdup("x.lua", 5);
  tg_functions_add(functions, &f);
}

/* a to d are of Lua; e is a C function that may wait, f one that cannot. */
static void define_all (void) {
  functions = tg_functions_new();
  add("a", false, false);
  add("b", false, false);
  add("c", false, false);
  add("d", false, false);
  add("wait", true, false);
  add("string.rep", true, true);
}

static uint64_t read_number (const char **s) {
  char *end;
  uint64_t n = strtoull(*s, &end, 10);
  *s = end;
  return n;
}

static tg_FunctionId read_function (const char **s) {
  char c = *(*s)++;
  return c == '?' ? TG_FUNCTION_HIDDEN : (tg_FunctionId)(c - 'a' + 1);
}

/* What follows a packet's kind. */
static void read_rest (const char **s, tg_Packet *k) {
  if (k->why == TG_WHY_TICK)
    k->hits = read_number(s);
  else
    k->function = read_function(s);
  if (**s == '=') {
    ++*s;
    k->function = read_function(s);
  }
  if (**s == '+') {
    ++*s;
    k->apart = true;
    k->hook_ns = read_number(s);
  }
  if (**s == '%') {
    ++*s;
    k->leaning_ns = (double)read_number(s);
  }
  if (**s == '~') {
    ++*s;
    k->others_ns = read_number(s);
  }
  if (**s == 'w') {
    ++*s;
    k->untraced = true;
  }
}

/* One packet from its text; what follows it. */
static const char *parse (const char *s, tg_Packet *k, uint64_t *spent) {
  memset(k, 0, sizeof *k);
  k->thread = 1;
  k->time_ns = read_number(&s);
  char kind = *s++;
  k->why = kind == '<' ? TG_WHY_RETURN : kind == '!' ? TG_WHY_TICK
                                                     : TG_WHY_ENTER;
  k->sampled = kind == '~';
  read_rest(&s, k);
  if (*s == '@') {
    s++;
    *spent = read_number(&s);
  }
  k->spent_ns = *spent;
  while (*s == ' ')
    s++;
  return s;
}

static void take (tg_Profile *p, const char *packets) {
  tg_Packet k;
  uint64_t spent = 0;
  while (*packets != '\0') {
    packets = parse(packets, &k, &spent);
    tg_profile_add(p, &k);
  }
}

/* Children after their parent, in brackets: "name self/total". */
static void tell_children (const tg_Profile *p, uint32_t parent) {
  const tg_Node *nodes[64];
  tg_outcome_sort_nodes(p, nodes);
  for (uint32_t i = 0; i + 1 < p->tree.count; i++) {
    if (nodes[i]->parent != parent)
      continue;
    tg_buf_addfmt(&told, "(%s %llu/%llu",
                  tg_profile_function(p, nodes[i]->row)->name,
                  (unsigned long long)nodes[i]->tally.self_ns,
                  (unsigned long long)nodes[i]->tally.total_ns);
    tell_children(p, (uint32_t)(nodes[i] - p->tree.nodes));
    tg_buf_addchar(&told, ')');
  }
}

static bool is_variance (double v) {
  return isfinite(v) && v >= 0;
}

/* A node's total is its own time and that of its children. */
static void check_totals (const tg_Profile *p) {
  uint64_t totals[64];
  UNIT_CHECK(p->tree.count <= 64);
  for (uint32_t i = 0; i < p->tree.count; i++)
    totals[i] = p->tree.nodes[i].tally.self_ns;
  for (uint32_t i = p->tree.count - 1; i > 0; i--)
    totals[p->tree.nodes[i].parent] += totals[i];
  for (uint32_t i = 0; i < p->tree.count; i++)
    UNIT_CHECK(p->tree.nodes[i].tally.total_ns == totals[i]);
}

static void check_sums (const tg_Profile *p) {
  uint64_t rows = p->idle_ns, nodes = 0;
  for (uint32_t i = 0; i < p->nrows; i++) {
    rows += p->rows[i].tally.self_ns;
    UNIT_CHECK(is_variance(p->rows[i].tally.variance));
  }
  for (uint32_t i = 0; i < p->tree.count; i++) {
    nodes += p->tree.nodes[i].tally.self_ns;
    UNIT_CHECK(is_variance(p->tree.nodes[i].tally.variance));
  }
  UNIT_CHECK(rows == p->duration_ns);
  UNIT_CHECK(nodes == p->duration_ns);
}

static void begin (tg_Profile *p) {
  UNIT_CHECK(tg_profile_init(p, functions, true));
  UNIT_CHECK(tg_profile_tick(p, TG_TICKS_BESIDE));
}

static void end (tg_Profile *p, uint64_t ns) {
  tg_profile_end(p, 0, ns);
  UNIT_CHECK(p->status == TG_OK);
  check_sums(p);
  check_totals(p);
}

static void run (const char *packets, uint64_t ns) {
  tg_Profile p;
  begin(&p);
  take(&p, packets);
  end(&p, ns);
  tell_children(&p, 0);
  tg_buf_addfmt(&told, " %llu", (unsigned long long)p.idle_ns);
  tg_profile_free(&p);
}

/* From 0 to 'ns': the tree, and the time outside of it. */
#define DIVIDES(packets, ns, wanted) \
  (run((packets), (ns)), UNIT_TEXT(&told, wanted))

static void nothing (void) {
  DIVIDES("", 100, " 100");
  DIVIDES("", 0, " 0");
  DIVIDES("10>a 20>b 50<b 100<a", 100, "(a 60/90(b 30/30)) 10");
}

/* A call's own time, among what samples have shown there. */
static void divided (void) {
  DIVIDES("0>a 0~b 60!60 60<b 60~c 98!38 98<c 100!2 100<a", 100,
          "(a 2/100(b 60/60)(c 38/38)) 0");
  DIVIDES("0>a 0~b 0~c 40!40 40<c 80!40 80<b 80>d 100!20 100<d 100<a", 100,
          "(a 0/100(b 40/80(c 40/40))(d 20/20)) 0");
}

/* A frame that samples have shown, and no tick has met, has no part. */
static void divided_without (void) {
  DIVIDES("0>a 0~b 0!20=c 10>c 30!30 30<c 80<b 100!70 100<a", 100,
          "(a 80/100(b 0/20(c 20/20))) 0");
  DIVIDES("0>a 0~b 80<b 100<a", 100, "(a 100/100(b 0/0)) 0");
}

/* Outside of calls there is what ticks stand for, and no more than passed. */
static void outside (void) {
  DIVIDES("0~a 0~b 50!10 50<b 100!20 100<a", 100,
          "(a 20/30(b 10/10)) 70");
  DIVIDES("0~a 50!100 50<a 50~b 100!100 100<b", 100,
          "(a 50/50)(b 50/50) 0");
}

/* Time that was no processor time: of a call that may wait it is its own; of
   one that only computes, or is of Lua, it is nobody's. */
static void idle (void) {
  DIVIDES("0>a 10>e 90<e 100!20 100<a", 100, "(a 20/100(wait 80/80)) 0");
  DIVIDES("0>a 10>f 90<f 100!20 100<a", 100,
          "(a 20/20(string.rep 0/0)) 80");
  DIVIDES("0>a 1>b 99<b 100!20 100<a", 100, "(a 2/20(b 18/18)) 80");
}

/* What others had the processor for is nobody's, whatever was called. */
static void preempted (void) {
  DIVIDES("0>a 10>e 90<e 100!20~50 100<a", 100, "(a 20/50(wait 30/30)) 50");
  DIVIDES("0>a 10>e 90<e 100!20~90 100<a", 100, "(a 20/20(wait 0/0)) 80");
  DIVIDES("0>a 0~b 10!10 100!10~80 100<b 100<a", 100,
          "(a 0/100((not running) 80/80)(b 20/20)) 0");
}

/* Where samples were inside it may be either. */
static void idle_inside (void) {
  DIVIDES("0>a 0~b 10!10 100!10 100<b 100<a", 100,
          "(a 0/100((not running) 80/80)(b 20/20)) 0");
}

/* Less than a fiftieth is the machine's. */
static void idle_little (void) {
  DIVIDES("0>a 100!99 100<a", 100, "(a 100/100) 0");
}

/* The longest gaps have waited. */
static void gaps (void) {
  DIVIDES("0>a 10>e 50<e 60>e 90<e 100!60 100<a", 100,
          "(a 30/100(wait 70/70)) 0");
  DIVIDES("0>b 10<b 10>e 50<e 50>c 80<c 80>d 100<d 100!60", 100,
          "(wait 40/40)(c 30/30)(d 20/20)(b 10/10) 0");
}

/* What ran in no frame that is open: a call between its events, or one that
   the filter hides. */
static void apart_of_frames (void) {
  DIVIDES("0>a 50!50 100!50=b 100<a", 100, "(a 50/100(b 50/50)) 0");
  DIVIDES("0>a 50!50 100!50=? 100<a", 100, "(a 50/100((left out) 50/50)) 0");
  DIVIDES("0>a 50!50 50<a 100!50=b", 100, "(a 50/50)(b 50/50) 0");
}

/* A tick that has met no frame is told all the same: what passed before it is
   nothing to the next. */
static void no_frame (void) {
  DIVIDES("0>a 10!10 10<a 30!20 60!30 60>b 110!50 110<b", 120,
          "(b 50/50)(a 10/10) 60");
}

static double share (uint64_t clock, uint64_t spent, uint64_t ticks,
                     double squares) {
  double variance = TG_BYTICK_DOUBT * TG_BYTICK_DOUBT * (double)spent
                    * (double)spent;
  double w = variance / (variance + squares);
  return w * (double)ticks + (1 - w) * (double)clock;
}

static const tg_Row *row_named (const tg_Profile *p, const char *name) {
  for (uint32_t i = 0; i < p->nrows; i++) {
    if (strcmp(tg_profile_function(p, i)->name, name) == 0)
      return &p->rows[i];
  }
  return NULL;
}

static bool is_near (uint64_t ns, double wanted) {
  return fabs((double)ns - wanted) <= 2;
}

/* What the clock says and what ticks say, each as it is sure: where nothing
   was taken out, the clock; where much was, ticks. */
static void weights (void) {
  tg_Profile p;
  begin(&p);
  take(&p, "0>a 1000!700+300@0 1000<a@0");
  end(&p, 1000);
  UNIT_CHECK(row_named(&p, "a")->tally.self_ns == 1000);
  tg_profile_free(&p);
  begin(&p);
  take(&p, "0>a 500!200+2800@2500 1000!200+2800@5000 1000<a");
  end(&p, 1000);
  double squares = 2 * 200.0 * 200.0;
  UNIT_CHECK(is_near(row_named(&p, "a")->tally.self_ns,
                     share(1000, 5000, 400, squares)));
  tg_profile_free(&p);
}

/* Of calls of Lua functions ticks meet some of the hook, folded ones as well;
   of C functions they do not, and no more than all that they have met. */
static void leaning (void) {
  static const struct {
    const char *packets;
    uint64_t met;
    double error;
  } all[] = {
    {"0>a 500<a 500>a 1000!400+5600%50@5000 1000<a", 300, 50},
    {"0>a 500>a 1000!400+5600%50@5000 1000<a 1000<a", 300, 50},
    {"0>a 500>e 500<e 1000!400+5600%50@5000 1000<a", 350, 25},
    {"0>a 1000!400+5600%500@5000 1000<a", 0, 250},
    {"0>f 1000!400+5600%50@5000 1000<f", 400, 0}
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    tg_Profile p;
    begin(&p);
    p.levels = i == 1 ? 1 : p.levels;
    take(&p, all[i].packets);
    end(&p, 1000);
    const char *name = i < 4 ? "a" : "string.rep";
    double squares = 400.0 * 400.0 + all[i].error * all[i].error;
    UNIT_CHECK(is_near(row_named(&p, name)->tally.self_ns,
                       share(1000, 5000, all[i].met, squares)));
    tg_profile_free(&p);
  }
}

/* So many ticks of 10 ns, one after the other, and how they go on. */
static uint64_t add_ticks (tg_Buf *out, uint64_t now, int n,
                           const char *rest) {
  for (; n > 0; n--)
    tg_buf_addfmt(out, "%llu!10%s ", (unsigned long long)(now += 10), rest);
  return now;
}

/* Where there are ticks in windows the clock is in doubt twice as much: a has
   30 of 40 in windows and 10 of 40 outside, and half of the time. */
static void windows (void) {
  tg_Profile p;
  tg_Buf packets = {0};
  begin(&p);
  tg_buf_addstr(&packets, "0>a ");
  add_ticks(&packets, add_ticks(&packets, 0, 30, "w"), 10, "+0");
  tg_buf_addstr(&packets, "400<a@500 400>b 410!10+500 ");
  add_ticks(&packets, add_ticks(&packets, 410, 10, "w"), 29, "+0");
  tg_buf_addstr(&packets, "800<b@1000");
  tg_buf_addchar(&packets, 0);
  take(&p, packets.data);
  end(&p, 800);
  double clock = 1 / pow(TG_BYTICK_DOUBT_FREE * 500, 2);
  double bound = 1 / (4 * (10 * 100 + pow(TG_BYTICK_LEANING * 100, 2)));
  double free = 1 / (4 * 30 * 100.0);
  UNIT_CHECK(is_near(row_named(&p, "a")->tally.self_ns,
                     (clock * 400 + bound * 200 + free * 600)
                     / (clock + bound + free)));
  tg_profile_free(&p);
  tg_buf_free(&packets);
}

/* The groups of one function are together what the function is. */
static void kin (void) {
  tg_Profile p;
  begin(&p);
  take(&p, "0>a 0>b 400!300+900@800 400<b 400<a "
           "400>c 400>b 1000!300+1500@2000 1000<b 1000<c");
  end(&p, 1000);
  UNIT_CHECK(is_near(row_named(&p, "b")->tally.self_ns,
                     share(1000, 2000, 600, 2 * 300.0 * 300.0)));
  tg_profile_free(&p);
}

/* Of a recursion each level is a node, and the row counts time once. */
static void recursion (void) {
  tg_Profile p;
  begin(&p);
  take(&p, "0>a 10>a 20>a 30!30 30<a 40<a 100!70 100<a");
  end(&p, 100);
  UNIT_CHECK(row_named(&p, "a")->tally.total_ns == 100);
  UNIT_CHECK(row_named(&p, "a")->tally.self_ns == 100);
  tg_profile_free(&p);
}

/* A file may say anything: no sum is wrong, no number is none. */
static void huge (void) {
  static const char *const all[] = {
    "0>a 9223372036854775808!9223372036854775808 9223372036854775808<a",
    "0>a 0~b 10!18446744073709551615 20!18446744073709551615 20<b 20<a",
    "0>a 0~b 10!9223372036854775808 10<b 10~c 20!9223372036854775809 20<c "
    "20<a",
    "0>a 0~b 10!18446744073709551615+18446744073709551615@18446744073709551615"
    " 20!9+18446744073709551615 20<b 20<a",
    "0>a 0~b 10!0 20!0+0 20<b 20<a"
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    tg_Profile p;
    begin(&p);
    take(&p, all[i]);
    end(&p, 100);
    tg_profile_free(&p);
  }
}

/* Samples alone: no time passes but that of ticks. */
static void ticks_only (void) {
  tg_Profile p;
  UNIT_CHECK(tg_profile_init(&p, functions, true));
  UNIT_CHECK(tg_profile_tick(&p, TG_TICKS_ONLY));
  take(&p, "0~a 0~b 50!10 50<b 100!20 100<a");
  end(&p, 200);
  tell_children(&p, 0);
  UNIT_TEXT(&told, "(a 20/30(b 10/10))");
  UNIT_CHECK(p.duration_ns == 200 && p.idle_ns == 170);
  tg_profile_free(&p);
}

/* Packets as they may come, with all sums right at the end of each. */
static void take_random (tg_Profile *p, uint64_t *seed, uint64_t *now) {
  tg_FunctionId open[8];
  bool sampled[8];
  uint64_t spent = 0;
  uint32_t n = 0;
  for (int i = 0; i < 60; i++) {
    tg_Packet k = {.thread = 1, .time_ns = *now += unit_random(seed) % 50};
    uint32_t what = unit_random(seed) % 3;
    k.spent_ns = spent += unit_random(seed) % 30;
    if (what == 0 && n < 3) {
      k.why = TG_WHY_ENTER;
      k.function = open[n] = unit_random(seed) % 3 * 2 + 1;
      k.sampled = sampled[n++] = unit_random(seed) % 2;
    }
    else if (what == 1 && n > 0) {
      k.why = TG_WHY_RETURN;
      k.function = open[--n];
      k.sampled = sampled[n];
    }
    else {
      k.why = TG_WHY_TICK;
      k.apart = true;
      k.hits = unit_random(seed) % 100;
      k.hook_ns = unit_random(seed) % 100;
      k.function = unit_random(seed) % 8 == 0 ? TG_FUNCTION_HIDDEN : 0;
    }
    tg_profile_add(p, &k);
  }
}

static void any (void) {
  uint64_t seed = 1;
  for (int i = 0; i < 3000; i++) {
    uint64_t now = 0;
    tg_Profile p;
    UNIT_CHECK(tg_profile_init(&p, functions, true));
    UNIT_CHECK(tg_profile_tick(&p, i % 4 > 0 ? TG_TICKS_BESIDE
                                             : TG_TICKS_ONLY));
    p.levels = i % 3 == 0 ? 2 : UINT32_MAX;
    take_random(&p, &seed, &now);
    end(&p, now + 10);
    tg_profile_free(&p);
  }
}

/* Whichever allocation is refused, it says so and frees all. */
static void refused (void) {
  uint64_t n = 0;
  bool whole = false;
  while (!whole && ++n < 100) {
    tg_Profile p;
    tg_alloc_fail(n);
    whole = tg_profile_init(&p, functions, false)
            && tg_profile_tick(&p, TG_TICKS_BESIDE);
    if (whole) {
      take(&p, "0>a 0~b 10!10+5@20 100!10=c 100<b 100<a");
      tg_profile_end(&p, 0, 100);
      whole = p.status == TG_OK;
    }
    tg_profile_free(&p);
  }
  tg_alloc_fail(0);
  UNIT_CHECK(n > 5 && n < 100);
}

int main (void) {
  define_all();
  UNIT_RUN(nothing);
  UNIT_RUN(divided);
  UNIT_RUN(divided_without);
  UNIT_RUN(outside);
  UNIT_RUN(idle);
  UNIT_RUN(preempted);
  UNIT_RUN(idle_inside);
  UNIT_RUN(idle_little);
  UNIT_RUN(gaps);
  UNIT_RUN(apart_of_frames);
  UNIT_RUN(no_frame);
  UNIT_RUN(weights);
  UNIT_RUN(leaning);
  UNIT_RUN(windows);
  UNIT_RUN(kin);
  UNIT_RUN(recursion);
  UNIT_RUN(huge);
  UNIT_RUN(ticks_only);
  UNIT_RUN(any);
  UNIT_RUN(refused);
  tg_buf_free(&told);
  tg_functions_free(functions);
  return UNIT_END();
}
