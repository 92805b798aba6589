-- objects: method calls on small tables, one level of inheritance, objects
-- made all the time

local Account = {}
Account.__index = Account

function Account.new (class, owner, balance)
  return setmetatable({owner = owner, balance = balance, moves = 0}, class)
end

function Account:deposit (amount)
  self.balance = self.balance + amount
  self.moves = self.moves + 1
  return self
end

function Account:withdraw (amount)
  if self:available() < amount then
    return nil, "insufficient funds"
  end
  self.balance = self.balance - amount
  self.moves = self.moves + 1
  return self
end

function Account:available ()
  return self.balance
end

local Credit = setmetatable({}, {__index = Account})
Credit.__index = Credit

function Credit.new (class, owner, balance, limit)
  local account = Account.new(class, owner, balance)
  account.limit = limit
  return account
end

function Credit:available ()
  return self.balance + self.limit
end

local function transfer (from, to, amount)
  local ok, message = from:withdraw(amount)
  if not ok then
    return nil, message
  end
  to:deposit(amount)
  return amount
end

local function open (n)
  local list = {}
  for i = 1, n do
    list[i] = i % 3 == 0 and Credit:new("owner" .. i % 10, i, 50)
              or Account:new("owner" .. i % 10, 10 * i)
  end
  return list
end

return function ()
  local moved = 0
  for round = 1, 40 do
    local list = open(400)
    for step = 1, 5 do
      for i, account in ipairs(list) do
        local other = list[(i * 7 + step) % #list + 1]
        moved = moved + (transfer(account, other, round + step) or 0)
      end
    end
  end
  return moved
end
