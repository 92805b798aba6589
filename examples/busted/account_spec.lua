-- One of these tests fails, and leaves a recording that tells why:
--
--   cd examples/busted
--   busted --lua=lua5.4 --lpath='./?.lua' --helper=tracegrip.busted
--          -Xhelper traces=traces .
--   tracegrip log traces/account-deposits-rejects-negative-amounts.tgr

local Account = require "account"

describe("account", function ()
  local account

  before_each(function ()
    account = Account.new("Ada")
    account:deposit(100)
  end)

  describe("deposits", function ()
    it("adds them up", function ()
      account:deposit(20)
      assert.equal(120, account.balance)
    end)

    it("rejects negative amounts", function ()
      assert.has_error(function () account:deposit(-5) end)
      assert.equal(100, account.balance)
    end)
  end)

  describe("withdrawals", function ()
    it("leave the rest", function ()
      assert.equal(30, account:withdraw(30))
      assert.equal(70, account.balance)
    end)

    it("end where the money does", function ()
      assert.is_nil(account:withdraw(101))
    end)
  end)
end)
