// debugged.mjs - a program that stands still at a line or an error, and
// Chromium's own front end for it: for pictures (screenshots.mjs) and for
// spec/inspect/frontend.mjs.
//
//   debug(build, directory, script, line) -> {address, output(), kill()}
//     starts the program in that directory, and has it stop before the line;
//     null: at its first error
//   attach(browser, address, size) -> page with, beside its own functions,
//     page.texts(name)   what elements of that class say, in all shadow trees
//     page.press(label)  clicks the button of that name
//     page.tab(name)     chooses a tab inside of a panel
//     page.gutter(line)  clicks beside a line
//     page.say(text)     types into the console
//     page.show(name)    brings a panel to the front: "console", "coverage" ...
//     page.cover(begin)  begins or ends recording coverage, by blocks

import {spawn} from "node:child_process"

// The session that leads the program to the line: the front end then finds it
// there.
async function session (address) {
  const socket = new WebSocket(`ws://${address}`)
  const replies = []
  const pauses = []
  let wake = () => {}
  let gone = false
  await new Promise((done, fail) => {
    socket.onopen = done
    socket.onerror = fail
  })
  socket.onmessage = ({data}) => {
    const message = JSON.parse(data)
    if (message.id !== undefined)
      replies[message.id](message.result)
    else if (message.method === "Debugger.paused") {
      pauses.push(message.params)
      wake()
    }
  }
  socket.onclose = () => { gone = true; wake() }
  return {
    ask: (method, params = {}) => new Promise((done) => {
      const id = replies.push(done) - 1
      socket.send(JSON.stringify({id, method, params}))
    }),
    async paused () {
      while (pauses.length === 0) {
        if (gone)
          throw new Error("the program ended without a pause")
        await new Promise((done) => { wake = done })
      }
      return pauses.shift()
    }
  }
}

export async function debug (build, directory, script, line) {
  const child = spawn(`${build}/bin/tracegrip`,
    ["serve", "--inspect-brk=0", script],
    {cwd: directory, stdio: ["ignore", "pipe", "pipe"]})
  let said = "", written = ""
  child.stdout.on("data", (bytes) => { written += bytes })
  const address = await new Promise((done, fail) => {
    child.on("exit", () => fail(new Error(said)))
    child.stderr.on("data", (bytes) => {
      said += bytes
      const found = said.match(/&ws=(\S+)\n/)
      if (found)
        done(found[1])
    })
  })
  const {ask, paused} = await session(address)
  await ask("Debugger.enable")
  ask("Runtime.runIfWaitingForDebugger")
  const {url} = (await paused()).callFrames[0]
  const {breakpointId} = await (line === null
    ? ask("Debugger.setPauseOnExceptions", {state: "all"})
    : ask("Debugger.setBreakpointByUrl", {url, lineNumber: line - 1}))
  ask("Debugger.resume")
  await paused()
  if (breakpointId)
    await ask("Debugger.removeBreakpoint", {breakpointId})
  return {address, output: () => written, kill: () => child.kill("SIGKILL")}
}

// The front end's own modules are at hand in its page.
const views = (then) => `(async () => {
  const {ViewManager} = await import("./ui/legacy/legacy.js")
  const views = ViewManager.ViewManager.instance()
  ${then}
  return true
})()`

const all = `(function all (root) {
  return [...root.querySelectorAll("*")].flatMap((e) =>
    e.shadowRoot ? [e, ...all(e.shadowRoot)] : [e])
})(document)`

export async function attach (browser, address, size) {
  const page = await browser.open(
    `http://127.0.0.1:${browser.port}/devtools/js_app.html`
    + `?experiments=true&v8only=true&ws=${address}`, size)
  page.texts = (name) => page.value(`${all}
    .filter((e) => e.classList.contains(${JSON.stringify(name)}))
    .map((e) => e.innerText.trim())`)
  page.press = async (label) => {
    const [x, y] = await page.value(`(() => {
      const {left, top, width, height} = ${all}.find((e) =>
        (e.getAttribute("aria-label") ?? e.title).startsWith(
          ${JSON.stringify(label)})
        && e.getBoundingClientRect().width > 0).getBoundingClientRect()
      return [left + width / 2, top + height / 2]
    })()`)
    await page.click(x, y)
  }
  const clickOn = async (found) => {
    const [x, y] = await page.value(`(() => {
      const {left, top, width, height} =
        (${all}.find(${found})).getBoundingClientRect()
      return [left + width / 2, top + height / 2]
    })()`)
    await page.click(x, y)
  }
  page.gutter = (line) => clickOn(`(e) => e.innerText === "${line}"
    && e.parentElement?.classList.contains("cm-lineNumbers")`)
  page.say = async (text) => {
    await clickOn(`(e) => e.id === "console-prompt"`)
    await page.type(text)
    await page.settle()
  }
  page.tab = (name) => page.value(`${all}
    .find((e) => e.classList.contains("tabbed-pane-header-tab")
      && e.innerText.trim() === ${JSON.stringify(name)})
    .dispatchEvent(new MouseEvent("mousedown", {bubbles: true, button: 0}))`)
  page.show = async (name) => {
    await page.value(views(`await views.showView(${JSON.stringify(name)})`))
    await page.settle()
  }
  page.cover = (begin) => page.value(views(`
    const panel = await views.view("coverage").widget()
    await panel.${begin
      ? "startRecording({reload: false, jsCoveragePerBlock: true})"
      : "stopRecording()"}`))
  await page.until(`${all}.some((e) =>
    e.classList.contains("call-frame-item-title"))`)
  await page.settle()
  return page
}
