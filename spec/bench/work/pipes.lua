-- pipes: a pipeline of coroutines, and many that live only for a moment

local yield, wrap = coroutine.yield, coroutine.wrap
local create, resume = coroutine.create, coroutine.resume

local function source (n)
  return wrap(function ()
    for i = 1, n do
      yield(i, i % 7)
    end
  end)
end

local function keep (from)
  return wrap(function ()
    for i, remainder in from do
      if remainder ~= 0 then
        yield(i, remainder)
      end
    end
  end)
end

local function scale (from, factor)
  return wrap(function ()
    for i, remainder in from do
      yield(factor * i + remainder)
    end
  end)
end

local function ask (question)
  local answer = yield(question .. "?")
  return #answer
end

return function ()
  local total = 0
  for factor = 1, 12 do
    for value in scale(keep(source(2600)), factor) do
      total = total + value
    end
  end
  for _ = 1, 6000 do
    local asking = create(ask)
    local _, question = resume(asking, "name")
    local _, size = resume(asking, question .. " tracegrip")
    total = total + size
  end
  return total
end
