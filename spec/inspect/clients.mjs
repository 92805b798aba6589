// clients.mjs - several front ends for one program: each shows what another one
// does, and one that goes away takes nothing with it.

import {play} from "./stage.mjs"

const app = `local n = 0
while n < 9 do
  n = n + 1
  n = n + 0
end
print(n)
`

await play({"app.lua": app}, 3, async ({page, program, open}) => {
  const other = await open(program)
  await other.stands("app.lua:3", {n: "0"})
  await other.press("Step over next function call")
  await other.stands("app.lua:4", {n: "1"})
  await page.stands("app.lua:4", {n: "1"})
  await page.edit("n", "5")
  await page.gutter(3)
  await page.marked([3])
  await page.press("Resume script execution")
  await page.stands("app.lua:3", {n: "5"})
  await other.stands("app.lua:3", {n: "5"})

  // The breakpoint goes with its front end.
  await page.close()
  await other.press("Resume script execution")
  await other.sees("what the program prints", program.output, "9\n")
})
