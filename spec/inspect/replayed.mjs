// replayed.mjs - a recording is walked through, forwards by the buttons, back by
// the call stack's menu and by functions in the console.

import {writeFileSync} from "node:fs"

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
  const error = "app.lua:2 app.lua:7 app.lua:13 app.lua:18"
  await page.stands(error)
  console.error(await page.texts("call-frame-item-title"), await page.texts("name-and-value"))
  await page.shot("/tmp/rp/one.png")
  await page.press("Step out of current function")
  await page.shot("/tmp/rp/two.png")
  console.error(await page.texts("call-frame-item-title"), await page.texts("name-and-value"), await page.places())
})
