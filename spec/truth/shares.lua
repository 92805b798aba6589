--- shares.lua - what measure.lua has found, in points of a hundred, and how far
-- that is from the truth.

local shares = {}

local DEAR = 5              -- points from which on a function counts

-- Lua's own name; and what resumes a coroutine in pingpong.lua, which the truth
-- cannot tell from the function that has yielded: both are one there.
local other_names = {["for iterator"] = "gmatch_aux", from = "yield"}

--- The reports that measure.lua has printed, as a list of {functions = name ->
-- time, whole = what the last line says}.
function shares.read (text)
  local reports, functions = {}, {}
  for name, value in text:gmatch "([^\n\t]*)\t(%S+)\n" do
    value = tonumber(value)
    if name == "" then
      reports[#reports + 1] = {functions = functions, whole = value}
      functions = {}
    else
      name = other_names[name] or name
      functions[name] = (functions[name] or 0) + value
    end
  end
  return reports
end

--- The share of each function in all of them together.
function shares.of (report)
  local list, sum = {}, 0
  for _, value in pairs(report.functions) do
    sum = sum + value
  end
  for name, value in pairs(report.functions) do
    list[name] = 100 * value / sum
  end
  return list
end

--- The median of each function's share.
function shares.medians (list)
  local all, result = {}, {}
  for _, each in ipairs(list) do
    for name, share in pairs(each) do
      all[name] = all[name] or {}
      table.insert(all[name], share)
    end
  end
  for name, values in pairs(all) do
    table.sort(values)
    result[name] = values[(#values + 1) // 2]
  end
  return result
end

--- The mean and the worst error of functions that have more than five points in
-- truth.
function shares.errors (truth, found)
  local sum, count, worst = 0, 0, 0
  for name, share in pairs(truth) do
    if share > DEAR then
      local off = math.abs((found[name] or 0) - share)
      sum, count, worst = sum + off, count + 1, math.max(worst, off)
    end
  end
  return {mean = sum / count, worst = worst}
end

-- So many ticks drawn by chance.
local function draw (truth, ticks)
  local names, functions = {}, {}
  for name in pairs(truth) do
    names[#names + 1] = name
  end
  table.sort(names)
  for _ = 1, ticks do
    local left = 100 * math.random()
    for _, name in ipairs(names) do
      left = left - truth[name]
      if left <= 0 then
        functions[name] = (functions[name] or 0) + 1
        break
      end
    end
  end
  return shares.of {functions = functions}
end

--- The errors that chance leaves to so many ticks.
function shares.chance (truth, ticks)
  local DRAWS = 20
  local sum = {mean = 0, worst = 0}
  math.randomseed(1)
  for _ = 1, DRAWS do
    local errors = shares.errors(truth, draw(truth, ticks))
    sum.mean = sum.mean + errors.mean / DRAWS
    sum.worst = sum.worst + errors.worst / DRAWS
  end
  return sum
end

return shares
