// looking.mjs - what the panel "Scope" shows of Lua's values, and how they are
// changed there; the frames of a coroutine's resumers.

import {play} from "./stage.mjs"

const app = `local tracegrip = require "tracegrip"
local Account = {__name = "Account"}
Account.__index = Account
local rate = 2
function Account:deposit (amount, ...)
  local amount = amount * rate
  local sleeper = coroutine.create(function () coroutine.yield(1) end)
  coroutine.resume(sleeper)
  local out, many = io.stdout, {}
  for i = 1, 1000 do many[i] = i end
  tracegrip.pause()
  self.balance = self.balance + amount * rate
  return ...
end
local account = setmetatable({balance = 0}, Account)
local run = coroutine.wrap(function () account:deposit(10, "x", nil) end)
run()
print(account.balance, account.owner)
`

await play({"app.lua": app}, 0, async ({page, program}) => {
  const shows = async (values) => {
    for (const [name, wanted] of Object.entries(values))
      await page.sees(name, async () => {
        const value = await page.variable(name)
        return wanted instanceof RegExp && wanted.test(value) ? "right" : value
      }, wanted instanceof RegExp ? "right" : wanted)
  }
  await page.press("Resume script execution")
  await page.stands("app.lua:11 app.lua:16 app.lua:17", {amount: "20"})
  await page.sees("who has resumed it", () =>
    page.texts("call-frame-item-title"),
    ["deposit", "(anonymous)", "coroutine.resume",
     "run", "(main chunk)", "(anonymous)"])
  await shows({
    this: /^Account/, self: /^Account/, "amount (hidden, #2)": "10",
    "(vararg 1)": `"x"`, "(vararg 2)": "undefined", many: /^table\(#1000\)/,
    out: /^FILE\*: 0x/, sleeper: /^thread: 0x/
  })
  await page.unfold("self")
  await shows({balance: "0", "[[Metatable]]": /^table/})
  await page.edit("balance", "5")
  await shows({balance: "5"})
  await page.unfold("many")
  await shows({"[1 … 100]": "", "[901 … 1000]": ""})
  await page.unfold("[901 … 1000]")
  await shows({1000: "1000"})
  await page.unfold("sleeper")
  await shows({"[[Status]]": `"suspended"`, "[[Stack]]": "Stack"})
  await page.edit("amount", "7")
  await shows({amount: "7"})
  await page.press("Resume script execution")
  await page.sees("what the program prints", program.output, "19\tnil\n")
})
