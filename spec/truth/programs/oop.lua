-- Classes that inherit by __index: accounts, some of which keep a log.
local turns = tonumber(arg[1])
local Account = {}
Account.__index = Account
function Account.new (owner)
  return setmetatable({owner = owner, balance = 0, count = 0}, Account)
end
function Account:deposit (sum)
  self.balance = self.balance + sum
  self.count = self.count + 1
end
function Account:text ()
  return self.owner .. ": " .. self.balance
end
local Logged = setmetatable({}, {__index = Account})
Logged.__index = Logged
function Logged.new (owner)
  local account = setmetatable(Account.new(owner), Logged)
  account.log = {}
  return account
end
function Logged:deposit (sum)
  Account.deposit(self, sum)
  self.log[#self.log + 1] = sum
end
local function month (n)
  local length = 0
  for i = 1, n do
    local one, other = Account.new("a"), Logged.new("b")
    for day = 1, 4 do
      one:deposit(day)
      other:deposit(i + day)
    end
    length = length + #one:text() + #other:text()
  end
  return length
end
for _ = 1, turns do
  month(60)
end
