/*
** curl.c - the module "tracegrip.curl": HTTP and TLS by libcurl, on a loop of
** somebody else's. It is a module of its own, which only those need who send
** spans or profiles: tracegrip.core is built and loaded without it.
**
**   curl.new()               a client
**   client:post(id, request) begins to send {url, body, headers = list, timeout
**                            = ms, ca = file or nil}; nil, message for what
**                            libcurl does not take
**   client:fd()              is readable when 'act' has something to do
**   client:act()             does it; also to be called when the time has come
**   client:due()             in how many ms that is; nil: it will not
**   client:finished()        id, status, message, seconds, body of a request
**   that
**                            is over, or nothing; status 0: there was no
**                            answer, and the message says why; seconds:
**                            Retry-After, 0 without one
**   client:close()           what is on its way is given up
**
** The descriptors that libcurl waits for are in an epoll of the client's own,
** so that the loop has to watch one only, which stays: libcurl closes its
** sockets as it likes, and some loops do not bear that of what they watch.
**
** Used by one Lua state on one thread. libcurl's callbacks note and return: Lua
** is never called from them, so nothing is raised through the library. Failure:
** want of memory raises, all that the other side may do is told by 'finished'.
*/
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>

#include <curl/curl.h>

#define CLIENT "tracegrip.curl"

enum { ANSWER_MAX = 64 << 10 };     /* bytes of an answer that are kept */

typedef struct Request {
  struct Request *next;
  CURL *easy;                       /* owns */
  struct curl_slist *headers;       /* owns */
  lua_Integer id;
  char *body;                       /* owns: the answer */
  size_t size;
  char trouble[CURL_ERROR_SIZE];
} Request;

typedef struct Client {
  CURLM *multi;                     /* owns; NULL once closed */
  Request *requests;                /* owns */
  int epoll;                        /* owns */
  long timeout;                     /* ms; -1: none */
} Client;

/* ---- what the library calls ---- */

/* What is closed leaves an epoll by itself, so a failure to take it out is
   none. */
static int on_socket (CURL *easy, curl_socket_t fd, int what, void *data,
                      void *socket) {
  const Client *c = data;
  struct epoll_event e = {.data.fd = fd};
  (void)easy;
  (void)socket;
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(c->epoll, EPOLL_CTL_DEL, fd, NULL);
    return 0;
  }
  e.events = ((what & CURL_POLL_IN) ? EPOLLIN : 0u)
             | ((what & CURL_POLL_OUT) ? EPOLLOUT : 0u);
  if (epoll_ctl(c->epoll, EPOLL_CTL_MOD, fd, &e) == 0)
    return 0;
  return epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &e);
}

static int on_timer (CURLM *multi, long timeout, void *data) {
  Client *c = data;
  (void)multi;
  c->timeout = timeout;
  return 0;
}

/* What is beyond the limit is read and forgotten. */
static size_t on_answer (char *from, size_t one, size_t n, void *data) {
  Request *r = data;
  size_t size = one * n, take = size;
  if (take > ANSWER_MAX - r->size)
    take = ANSWER_MAX - r->size;
  char *body = (take > 0) ? realloc(r->body, r->size + take) : NULL;
  if (body != NULL) {
    memcpy(body + r->size, from, take);
    r->body = body;
    r->size += take;
  }
  return size;
}

/* ---- requests ---- */

static Client *check (lua_State *L) {
  Client *c = luaL_checkudata(L, 1, CLIENT);
  luaL_argcheck(L, c->multi != NULL, 1, "a client that is open expected");
  return c;
}

static void free_request (Client *c, Request *r) {
  Request **at = &c->requests;
  while (*at != NULL && *at != r)
    at = &(*at)->next;
  if (*at == r)
    *at = r->next;
  if (r->easy != NULL) {
    curl_multi_remove_handle(c->multi, r->easy);
    curl_easy_cleanup(r->easy);
  }
  curl_slist_free_all(r->headers);
  free(r->body);
  free(r);
}

/* The strings are on the stack, or in the request's table, while libcurl copies
   them. NULL: the field is not there. */
static const char *field (lua_State *L, const char *name, size_t *size) {
  lua_getfield(L, 3, name);
  return lua_tolstring(L, -1, size);
}

/* A list of libcurl's is not Lua's to free, so none is half made when something
   raises: nothing here does. 0 without memory. */
static int set_headers (lua_State *L, Request *r) {
  lua_getfield(L, 3, "headers");
  if (!lua_istable(L, -1))
    return 1;
  for (int i = 1; lua_rawgeti(L, -1, i) == LUA_TSTRING; i++) {
    struct curl_slist *more = curl_slist_append(r->headers,
                                                lua_tostring(L, -1));
    if (more == NULL)
      return 0;
    r->headers = more;
    lua_pop(L, 1);
  }
  return curl_easy_setopt(r->easy, CURLOPT_HTTPHEADER, r->headers)
         == CURLE_OK;
}

static CURLcode restrict_to_http (CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
  return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  return curl_easy_setopt(easy, CURLOPT_PROTOCOLS,
                          (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

/* What is the same for all: no signals, which belong to the program; no
   redirection, since what is sent may be secret. */
static CURLcode set_constants (Request *r) {
  CURL *easy = r->easy;
  CURLcode code = restrict_to_http(easy);
  if (code == CURLE_OK)
    code = curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  if (code == CURLE_OK)
    code = curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, r->trouble);
  if (code == CURLE_OK)
    code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_answer);
  if (code == CURLE_OK)
    code = curl_easy_setopt(easy, CURLOPT_WRITEDATA, r);
  if (code == CURLE_OK)
    code = curl_easy_setopt(easy, CURLOPT_PRIVATE, r);
  return code;
}

/* COPYPOSTFIELDS copies, so the string need not stay; its size comes first. */
static CURLcode set_request (lua_State *L, Request *r) {
  size_t size = 0;
  CURLcode code = set_constants(r);
  const char *url = field(L, "url", NULL), *body = field(L, "body", &size);
  const char *ca = field(L, "ca", NULL);
  lua_getfield(L, 3, "timeout");
  long timeout = (long)lua_tointeger(L, -1);
  if (code == CURLE_OK)
    code = curl_easy_setopt(r->easy, CURLOPT_URL, url);
  if (code == CURLE_OK)
    code = curl_easy_setopt(r->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                            (curl_off_t)size);
  if (code == CURLE_OK)
    code = curl_easy_setopt(r->easy, CURLOPT_COPYPOSTFIELDS,
                            (body != NULL) ? body : "");
  if (code == CURLE_OK && ca != NULL)
    code = curl_easy_setopt(r->easy, CURLOPT_CAINFO, ca);
  if (code == CURLE_OK)
    code = curl_easy_setopt(r->easy, CURLOPT_TIMEOUT_MS, timeout);
  return (code == CURLE_OK && !set_headers(L, r)) ? CURLE_OUT_OF_MEMORY
                                                  : code;
}

static int client_post (lua_State *L) {
  Client *c = check(L);
  lua_Integer id = luaL_checkinteger(L, 2);
  luaL_checktype(L, 3, LUA_TTABLE);
  luaL_checkstack(L, 12, NULL);
  Request *r = calloc(1, sizeof *r);
  if (r == NULL)
    return luaL_error(L, "not enough memory");
  r->next = c->requests;
  c->requests = r;
  r->id = id;
  r->easy = curl_easy_init();
  CURLcode code = (r->easy != NULL) ? set_request(L, r)
                                    : CURLE_OUT_OF_MEMORY;
  if (code == CURLE_OK && curl_multi_add_handle(c->multi, r->easy) != CURLM_OK)
    code = CURLE_FAILED_INIT;
  if (code == CURLE_OK) {
    lua_pushboolean(L, 1);
    return 1;
  }
  free_request(c, r);
  luaL_pushfail(L);
  lua_pushstring(L, curl_easy_strerror(code));
  return 2;
}

/* ---- the loop ---- */

static int client_fd (lua_State *L) {
  lua_pushinteger(L, check(L)->epoll);
  return 1;
}

/* An error is for libcurl to find out: it reads, and sees. */
static int bits_of (uint32_t events) {
  int bits = (events & (EPOLLERR | EPOLLHUP)) ? CURL_CSELECT_ERR : 0;
  return bits | ((events & EPOLLIN) ? CURL_CSELECT_IN : 0)
         | ((events & EPOLLOUT) ? CURL_CSELECT_OUT : 0);
}

/* A descriptor of the list may be another one by the time that it is told of:
   libcurl passes over what it does not wait for. */
static int client_act (lua_State *L) {
  Client *c = check(L);
  struct epoll_event ready[16];
  int running, n = epoll_wait(c->epoll, ready, 16, 0);
  for (int i = 0; i < n; i++)
    curl_multi_socket_action(c->multi, ready[i].data.fd,
                             bits_of(ready[i].events), &running);
  curl_multi_socket_action(c->multi, CURL_SOCKET_TIMEOUT, 0, &running);
  return 0;
}

static int client_due (lua_State *L) {
  const Client *c = check(L);
  if (c->timeout < 0)
    lua_pushnil(L);
  else
    lua_pushinteger(L, c->timeout);
  return 1;
}

/* The message of a request without an answer: libcurl's long one, if there is
   any. */
static int push_result (lua_State *L, Request *r, CURLcode code) {
  long status = 0;
  curl_off_t seconds = 0;
  if (code == CURLE_OK) {
    curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(r->easy, CURLINFO_RETRY_AFTER, &seconds);
  }
  lua_pushinteger(L, r->id);
  lua_pushinteger(L, status);
  lua_pushstring(L, (code == CURLE_OK) ? ""
                    : (*r->trouble != '\0') ? r->trouble
                                            : curl_easy_strerror(code));
  lua_pushinteger(L, (lua_Integer)seconds);
  lua_pushlstring(L, (r->body != NULL) ? r->body : "", r->size);
  return 5;
}

/* If a push raises, the request stays in the list and goes with the client. */
static int client_finished (lua_State *L) {
  Client *c = check(L);
  CURLMsg *m;
  int left;
  while ((m = curl_multi_info_read(c->multi, &left)) != NULL) {
    Request *r = NULL;
    if (m->msg != CURLMSG_DONE
        || curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &r) != CURLE_OK)
      continue;
    int n = push_result(L, r, m->data.result);
    free_request(c, r);
    return n;
  }
  return 0;
}

static int client__gc (lua_State *L) {
  Client *c = luaL_checkudata(L, 1, CLIENT);
  while (c->requests != NULL)
    free_request(c, c->requests);
  if (c->multi != NULL)
    curl_multi_cleanup(c->multi);
  if (c->epoll >= 0)
    close(c->epoll);
  memset(c, 0, sizeof *c);
  c->epoll = -1;
  return 0;
}

static int client_new (lua_State *L) {
  Client *c = lua_newuserdatauv(L, sizeof *c, 0);
  memset(c, 0, sizeof *c);
  c->timeout = -1;
  c->epoll = -1;
  luaL_setmetatable(L, CLIENT);
  c->epoll = epoll_create1(EPOLL_CLOEXEC);
  if (c->epoll < 0)
    return luaL_fileresult(L, 0, "epoll");
  c->multi = curl_multi_init();
  if (c->multi == NULL)
    return luaL_error(L, "not enough memory");
  curl_multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(c->multi, CURLMOPT_SOCKETDATA, c);
  curl_multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(c->multi, CURLMOPT_TIMERDATA, c);
  return 1;
}

__attribute__((visibility("default")))
int luaopen_tracegrip_curl (lua_State *L);

/* libcurl's own globals are set up once in a process, and never taken down: who
   else uses libcurl in it nobody knows. */
int luaopen_tracegrip_curl (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"post", client_post},
    {"fd", client_fd},
    {"act", client_act},
    {"due", client_due},
    {"finished", client_finished},
    {"close", client__gc},
    {"__gc", client__gc},
    {NULL, NULL}
  };
  luaL_checkversion(L);
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return luaL_error(L, "libcurl cannot be used");
  luaL_newmetatable(L, CLIENT);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  luaL_setfuncs(L, methods, 0);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, client_new);
  lua_setfield(L, -2, "new");
  return 1;
}
