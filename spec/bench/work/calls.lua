-- calls: nothing but calls of small functions, no allocation (Hofstadter's
-- female and male sequences, by definition)

local female, male

function female (n)
  if n == 0 then
    return 1
  end
  return n - male(female(n - 1))
end

function male (n)
  if n == 0 then
    return 0
  end
  return n - female(male(n - 1))
end

return function ()
  local sum = 0
  for n = 1, 46 do
    sum = sum + female(n)
  end
  return sum
end
