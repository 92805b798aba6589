// replayed.mjs - a recording is walked through: forwards by the buttons, back by
// the call stack's menu and by functions in the console.

import {replay} from "./stage.mjs"

const app = `local function discount (price, class)
  if class == "blue" then error {code = 7} end
  return class == "gold" and price * 0.9 or price
end
local Shop = {}
function Shop.price (item, class)
  local price = discount(item.price, class)
  return price, item
end
local function all (classes)
  local sum = 0
  for _, class in ipairs(classes) do
    sum = sum + Shop.price({name = "tea", price = 10}, class)
  end
  return sum
end
print(all {"gold", "none"})
pcall(all, {"gold", "blue"})
`

await replay({"app.lua": app}, ["--sources"], async ({page}) => {
  const frames = () => page.texts("call-frame-item-title")
  const say = async (text) => {
    await page.show("console")
    await page.say(text)
  }
  const scopes = () => page.texts("scope-chain-sidebar-pane-section-title")
  await page.stands("app.lua:2 app.lua:7 app.lua:13 app.lua:18",
    {price: "10", class: '"blue"', Exception: "table {code: 7}"})
  await page.sees("the frames", frames,
    ["discount", "Shop.price", "all", "pcall", "(main chunk)"])
  await page.sees("the file", page.file, "app.lua")
  await page.sees("the scopes", scopes, ["Local",
    "Closure (Arguments of error)", "Closure (Error)", "Closure (Moment)"])
  await page.press("Step out of current function")
  await page.stands("app.lua:18")
  await page.sees("the frames", frames, ["(main chunk)"])
  await say("stepBackIn()")
  await page.stands("app.lua:2 app.lua:7 app.lua:13 app.lua:18")
  await say("err.code * price")
  await page.sees("a result", async () => (await page.messages()).at(-1),
                  "70")
  await page.show("sources")
  await page.restart("all")
  await page.stands("app.lua:10 app.lua:18", {classes:
    "table(#2) {1: 'gold', 2: 'blue'}"})
  await page.gutter(7)
  await page.marked([7])
  await page.press("Resume script execution")
  await page.stands("app.lua:7 app.lua:13 app.lua:18", {class: '"gold"'})
  await page.press("Step over next function call")
  await page.stands("app.lua:7 app.lua:13 app.lua:18")
  await page.sees("the scopes", scopes, ["Local",
    "Closure (Results of discount)", "Closure (Returns)", "Closure (Moment)"])
  await page.press("Step into next function call")
  await page.stands("app.lua:12 app.lua:18")
  await say("reverseContinue()")
  await page.stands("app.lua:7 app.lua:13 app.lua:18")
  await say("moment(1)")
  await page.stands("app.lua:1")
})
