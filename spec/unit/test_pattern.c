/*
** test_pattern.c - the pattern matcher against hand-written cases, and against
** string.find of a real Lua for random ones.
*/
#include <stdlib.h>
#include <unistd.h>

#include "text/pattern.h"
#include "unit.h"

static bool found (const char *text, const char *pattern) {
  return tg_pattern_find(text, strlen(text), pattern);
}

static void by_hand (void) {
  UNIT_CHECK(found("account.lua", "^acc"));
  UNIT_CHECK(!found("my account", "^acc"));
  UNIT_CHECK(found("account.lua", "%.lua$"));
  UNIT_CHECK(!found("account.luac", "%.lua$"));
  UNIT_CHECK(found("", "") && found("abc", "") && found("", "^$"));
  UNIT_CHECK(found("f(a(b)c)d", "%b()d"));
  UNIT_CHECK(found("THE (quick) fox", "%f[%a]quick%f[%A]"));
  UNIT_CHECK(found("abcabc", "(abc)%1") && !found("abcab", "(abc)%1"));
  UNIT_CHECK(found("a]b", "[]]") && !found("ab", "[]]"));
  UNIT_CHECK(found("a-b", "a[%-x]b") && found("x5", "%a%d?$"));
  UNIT_CHECK(found("aXb", "a()%u()b"));
  UNIT_CHECK(found("$x", "^$x") && found("a^", "a^"));
  UNIT_CHECK(tg_pattern_find("a\0b", 3, "a%zb"));
}

/* Errors in string.find; here no match and no harm. */
static void malformed (void) {
  static const char *const bad[] = {
    "%", "[a", "[", "[%", "[^", "(a", "a)", "(", ")", "%b", "%bx", "%f",
    "%fa", "%1", "(%1", "%0", "[]", "[^]", "a(b(c)", "()(", "[a-%"
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    UNIT_CHECK(!found("abc", bad[i]));
}

static void bounded (void) {
  char pattern[4096], text[2048];
  memset(pattern, '(', sizeof pattern);
  pattern[sizeof pattern - 1] = '\0';
  UNIT_CHECK(!found("abc", pattern));
  for (size_t i = 0; i + 2 < sizeof pattern; i += 2)
    memcpy(pattern + i, "a?", 2);
  pattern[sizeof pattern - 2] = '\0';
  memset(text, 'a', sizeof text);
  UNIT_CHECK(!tg_pattern_find(text, sizeof text, pattern));
  memset(pattern, '.', 2000);
  pattern[2000] = '\0';
  UNIT_CHECK(tg_pattern_find(text, sizeof text, pattern));
}

static void lists (void) {
  tg_Patterns a = {0}, b;
  UNIT_CHECK(!tg_patterns_match(&a, "x"));
  UNIT_CHECK(tg_patterns_add(&a, "^x") && tg_patterns_add(&a, "y$"));
  UNIT_CHECK(tg_patterns_copy(&b, &a));
  tg_patterns_free(&a);
  UNIT_CHECK(a.count == 0 && b.count == 2);
  UNIT_CHECK(tg_patterns_match(&b, "xa") && tg_patterns_match(&b, "ay"));
  UNIT_CHECK(!tg_patterns_match(&b, "axa"));
  tg_patterns_free(&b);
}

/* A stranger's: cheap searches are free for ever, dear ones use it up. */
static void strangers (void) {
  tg_Patterns list = {0}, copy;
  char text[80];
  memset(text, 'k', sizeof text);
  UNIT_CHECK(tg_patterns_add(&list, ".-.-.-.-.-.-.-.-.-.-!!"));
  tg_patterns_bound(&list, TG_PATTERNS_EACH);
  for (int i = 0; i < 100000; i++)
    UNIT_CHECK(tg_patterns_find(&list, "!!", 2));
  UNIT_CHECK(list.steps == TG_PATTERNS_STEPS && !tg_patterns_spent(&list));
  UNIT_CHECK(tg_patterns_copy(&copy, &list));
  UNIT_CHECK(!tg_patterns_find(&list, text, sizeof text));
  UNIT_CHECK(tg_patterns_spent(&list) && !tg_patterns_spent(&copy));
  UNIT_CHECK(!tg_patterns_find(&list, "!!", 2));
  UNIT_CHECK(tg_patterns_find(&copy, "!!", 2));
  tg_patterns_free(&list);
  tg_patterns_free(&copy);
}

/*
** {==================================================================
** Random patterns against the real thing
** ===================================================================
*/

#define RANDOM_CASES 4000

typedef struct Case {
  char text[12], pattern[24];
} Case;

static Case cases[RANDOM_CASES];

static void make_case (Case *c, uint64_t *seed) {
  static const char letters[] = "aab1(]-. ";
  static const char *const parts[] = {
    "a", "b", ".", "%a", "%d", "%S", "[ab]", "[^a]", "[a-c1]", "[%w-]", "(",
    ")", "()", "*", "+", "-", "?", "^", "$", "%1", "%b()", "%f[%a]", "[]]",
    "%.", "1", "[", "%"
  };
  size_t n = unit_random(seed) % (sizeof c->text - 1);
  for (size_t i = 0; i < n; i++)
    c->text[i] = letters[unit_random(seed) % (sizeof letters - 1)];
  n = 1 + unit_random(seed) % 4;
  for (size_t i = 0; i < n; i++)
    strcat(c->pattern,
           parts[unit_random(seed) % (sizeof parts / sizeof *parts)]);
}

static void write_script (FILE *f) {
  fputs("local function t(s, p) local ok, at = pcall(string.find, s, p) "
        "io.write(ok and at and '1' or '0') end\n", f);
  for (int i = 0; i < RANDOM_CASES; i++)
    fprintf(f, "t([==[%s]==], [==[%s]==])\n", cases[i].text,
            cases[i].pattern);
}

/* What Lua says of each case; false without a Lua. */
static bool ask_lua (char *answers) {
  char path[] = "/tmp/tg_patternXXXXXX", command[128];
  int fd = mkstemp(path);
  FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (f == NULL)
    return false;
  write_script(f);
  fclose(f);
  const char *lua = getenv("LUA");
  snprintf(command, sizeof command, "%s %s 2>/dev/null",
           lua != NULL ? lua : "lua5.4", path);
  FILE *in = popen(command, "r");
  size_t n = in != NULL ? fread(answers, 1, RANDOM_CASES, in) : 0;
  if (in != NULL)
    pclose(in);
  unlink(path);
  return n == RANDOM_CASES;
}

static void random_cases (void) {
  static char answers[RANDOM_CASES];
  uint64_t seed = 20240601;
  for (int i = 0; i < RANDOM_CASES; i++)
    make_case(&cases[i], &seed);
  if (!ask_lua(answers)) {
    puts("   no Lua to compare with");
    return;
  }
  int matches = 0;
  for (int i = 0; i < RANDOM_CASES; i++) {
    bool ours = found(cases[i].text, cases[i].pattern);
    matches += ours;
    if (ours != (answers[i] == '1')) {
      unit_errors++;
      printf("FAIL find('%s', '%s') is %d\n", cases[i].text,
             cases[i].pattern, ours);
    }
  }
  UNIT_CHECK(matches > RANDOM_CASES / 10);
}

/* }================================================================== */

int main (void) {
  UNIT_RUN(by_hand);
  UNIT_RUN(malformed);
  UNIT_RUN(bounded);
  UNIT_RUN(lists);
  UNIT_RUN(strangers);
  UNIT_RUN(random_cases);
  return UNIT_END();
}
