// keeper.mjs DIRECTORY - a browser with its profile in there, for all scripts
// that open pages in it (stage.mjs), until the standard input ends.

import {start} from "../../build-aux/browser.mjs"

const browser = await start(process.argv[2])
process.stdin.resume()
await new Promise((done) => process.stdin.once("end", done))
await browser.close()
process.exit()
