// acting.mjs - what people do: a breakpoint by a click, code in the console,
// what it offers while one types, the pause button.

import {play} from "./stage.mjs"

const account = "{balance = 7}, {__index = {deposit = print}}"
const app = `account = setmetatable(${account}) local function add (a, b)
  local sum = a + b
  return sum
end
local n = 0
while n < 3 do
  n = n + 1
  add(n, 2)
end
while n do
end
`

await play({"app.lua": app}, 6, async ({page}) => {
  const results = (wanted) => page.sees("what the console answers",
    () => page.texts("console-user-command-result"), wanted)
  await page.gutter(3)
  await page.marked([3])
  await page.press("Resume script execution")
  await page.stands("app.lua:3 app.lua:8", {a: "1", b: "2", sum: "3"})
  await page.show("console")
  await page.say("a + b")
  await page.say("sum = {sum, 'changed'}")
  await page.say("sum[2]")
  await results(["3", "undefined", "'changed'"])

  await page.write("b")
  await page.sees("its value, before it is run", () =>
    page.texts("console-eager-inner-preview"), ["2"])
  await page.type(" + 3")
  await results(["3", "undefined", "'changed'", "5"])
  await page.write("#sum + b * 2")
  await page.sees("the value of operators", () =>
    page.texts("console-eager-inner-preview"), ["6"])
  await page.type(", b")
  await page.sees("all values of what has several", () =>
    page.texts("console-object"), ["6, 2"])
  await page.write("string.re")
  await page.sees("what there is to complete it", () =>
    page.texts("cm-completionLabel"), ["rep", "reverse"])
  await page.key("Escape", 27)
  await page.type("p('ab', 2)")
  await results(["3", "undefined", "'changed'", "5", "", "'abab'"])

  await page.write("account.")
  await page.sees("methods among what there is", () =>
    page.texts("cm-completionLabel"), ["balance", "deposit"])
  await page.key("Escape", 27)
  await page.type("balance")
  await results(["3", "undefined", "'changed'", "5", "", "'abab'", "7"])

  await page.show("sources")
  await page.gutter(3)
  await page.marked([])
  await page.press("Resume script execution")
  await page.press("Pause script execution")
  await page.stands("app.lua:10", {n: "3"})
  await page.press("Resume script execution")
  await page.show("console")
  await page.say("answer = 6 * 7")
  await page.say("answer")
  await page.sees("what it answers while the program runs", async () =>
    (await page.texts("console-user-command-result")).at(-1), "42")
})
