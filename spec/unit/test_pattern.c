/*
** test_pattern.c - the pattern matcher against hand-written cases, and against
** string.find of a real Lua for random ones.
*/
#include <stdlib.h>
#include <unistd.h>

#include "text/patterns.h"
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

static tg_Found ask (const tg_Patterns *list, const char *text) {
  return tg_patterns_find(list, text, strlen(text));
}

static void lists (void) {
  tg_Patterns a = {0}, b;
  UNIT_CHECK(ask(&a, "x") == TG_FOUND_NOT);
  UNIT_CHECK(tg_patterns_add(&a, "^x") && tg_patterns_add(&a, "y$"));
  UNIT_CHECK(tg_patterns_copy(&b, &a));
  tg_patterns_free(&a);
  UNIT_CHECK(a.count == 0 && b.count == 2);
  UNIT_CHECK(ask(&b, "xa") == TG_FOUND && ask(&b, "ay") == TG_FOUND);
  UNIT_CHECK(ask(&b, "axa") == TG_FOUND_NOT);
  tg_patterns_free(&b);
}

/* A malformed one never says no, and keeps no other from saying yes. */
static void unknown (void) {
  tg_Patterns list = {0};
  UNIT_CHECK(tg_patterns_add(&list, "[a") && tg_patterns_add(&list, "^x"));
  UNIT_CHECK(ask(&list, "xa") == TG_FOUND);
  UNIT_CHECK(ask(&list, "ax") == TG_FOUND_UNKNOWN);
  tg_patterns_free(&list);
}

#define BOMB ".-.-.-.-.-.-.-.-.-.-!!"

static const char *bait (void) {
  static char text[81];
  memset(text, 'k', sizeof text - 1);
  return text;
}

/* A stranger's: cheap searches are free for ever, dear ones use it up. The
   last steps may not suffice for a set: that is no answer either. */
static void strangers (void) {
  static const char *const bombs[] = {
    BOMB, "[jkl]-[jkl]-[jkl]-[jkl]-[jkl]-[jkl]-[jkl]-[jkl]-[jkl]-!!"
  };
  for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
    tg_Patterns list = {0}, copy;
    UNIT_CHECK(tg_patterns_add(&list, bombs[i]));
    tg_patterns_bound(&list, TG_BOUND_STRANGER);
    for (int k = 0; k < 100000; k++)
      UNIT_CHECK(ask(&list, "!!") == TG_FOUND);
    UNIT_CHECK(list.steps == TG_PATTERNS_STEPS);
    UNIT_CHECK(tg_patterns_copy(&copy, &list));
    UNIT_CHECK(ask(&list, bait()) == TG_FOUND_UNKNOWN);
    UNIT_CHECK(list.steps == 0 && copy.steps == TG_PATTERNS_STEPS);
    UNIT_CHECK(ask(&list, "!!") == TG_FOUND_UNKNOWN);
    UNIT_CHECK(ask(&copy, "!!") == TG_FOUND);
    tg_patterns_free(&list);
    tg_patterns_free(&copy);
  }
}

/* The user's: what is found is free, however long it takes; some searches may
   be in vain before all are; and of others one does not take the share. */
static void ones_own (void) {
  tg_Patterns list = {0};
  uint64_t tries = TG_PATTERNS_OWN_STEPS / TG_PATTERNS_OWN_EACH;
  UNIT_CHECK(tg_patterns_add(&list, ".-.-l$"));
  tg_patterns_bound(&list, TG_BOUND_OWN);
  for (int i = 0; i < 100; i++)
    UNIT_CHECK(ask(&list, bait()) == TG_FOUND_NOT);
  UNIT_CHECK(list.steps == TG_PATTERNS_OWN_STEPS);
  UNIT_CHECK(tg_patterns_add(&list, BOMB) && tg_patterns_add(&list, "^x"));
  for (uint64_t i = 0; i < tries - 2; i++) {
    UNIT_CHECK(ask(&list, bait()) == TG_FOUND_UNKNOWN);
    UNIT_CHECK(ask(&list, "x") == TG_FOUND && ask(&list, "y") == TG_FOUND_NOT);
  }
  for (int i = 0; i < 2; i++)
    UNIT_CHECK(ask(&list, bait()) == TG_FOUND_UNKNOWN);
  UNIT_CHECK(list.steps == 0 && ask(&list, "x") == TG_FOUND_UNKNOWN);
  tg_patterns_free(&list);
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
  UNIT_RUN(unknown);
  UNIT_RUN(strangers);
  UNIT_RUN(ones_own);
  UNIT_RUN(random_cases);
  return UNIT_END();
}
