--- nginxes.lua - nginx with its Lua module, a process of its own that answers
-- requests by a script.

local uv = require "luv"

local run = require "spec.support.run"
local waiting = require "spec.support.waiting"

local nginxes = {}

local modules = "/usr/lib/nginx/modules/"

local conf = [[
  load_module @mndk_http_module.so;
  load_module @mngx_http_lua_module.so;
  daemon off; master_process off; pid @d/pid; error_log @d/errors;
  events {}
  http {
    access_log off; client_body_temp_path @d/1; proxy_temp_path @d/2;
    fastcgi_temp_path @d/3; uwsgi_temp_path @d/4; scgi_temp_path @d/5;
    server {
      listen unix:@d/socket;
      location / { content_by_lua_file @d/handler.lua; }
      location /ready { return 200; }
    }
  }]]

--- What declares a test of it: 'it', or one that says that there is none.
function nginxes.test (it, pending)
  if run.read(modules .. "ngx_http_lua_module.so")
     and os.execute "command -v nginx >/dev/null 2>&1" then
    return it
  end
  return function (sentence)
    pending(sentence .. ": there is no nginx with its Lua module here")
  end
end

local Server = {}
Server.__index = Server

--- Begins a request: its 'answer', and whether that is 'over'.
function Server:request (path)
  local one = {pipe = uv.new_pipe(), answer = "", over = false}
  one.pipe:connect(self.directory .. "/socket", function (fault)
    one.over = fault
    if fault then return end
    one.pipe:write("GET " .. path .. " HTTP/1.0\r\n\r\n")
    one.pipe:read_start(function (_, data)
      one.answer, one.over = one.answer .. (data or ""), data == nil
    end)
  end)
  return one
end

--- The answer to a request; nil: nobody listens.
function Server:ask (path)
  local one = self:request(path)
  waiting.till(function () return one.over end, run.patience)
  one.pipe:close()
  return one.answer ~= "" and one.answer or nil
end

--- Runs use(server) while it answers with what the handler says, a text of Lua;
-- ends it in any case.
function nginxes.with (handler, use)
  run.within(function (directory)
    local server = setmetatable({directory = directory}, Server)
    run.write(directory .. "/handler.lua", handler)
    run.write(directory .. "/nginx.conf", (conf:gsub("@(.)", {
      d = directory, m = modules})))
    local ended
    server.handle, server.pid = uv.spawn("nginx", {
      args = {"-p", directory, "-c", directory .. "/nginx.conf"},
    }, function () ended = true end)
    local ok, message = pcall(function ()
      assert(waiting.till(function ()
        return ended or server:ask "/ready"
      end, run.patience))
      assert(not ended, run.read(directory .. "/errors"))
      use(server)
    end)
    server.handle:kill "sigkill"
    waiting.till(function () return ended end, run.patience)
    server.handle:close()
    uv.run "nowait"
    assert(ok, message)
  end)
end

return nginxes
