-- account.lua - what account_spec.lua tests; it has a mistake.

local Account = {}
Account.__index = Account

local function check (amount)
  if amount == 0 then           -- it should be: amount <= 0
    error("not an amount: " .. amount, 3)
  end
  return amount
end

function Account.new (owner)
  return setmetatable({owner = owner, balance = 0}, Account)
end

function Account:deposit (amount)
  self.balance = self.balance + check(amount)
end

function Account:withdraw (amount)
  if amount > self.balance then
    return nil, "insufficient funds"
  end
  self.balance = self.balance - check(amount)
  return amount
end

return Account
