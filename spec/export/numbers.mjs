// numbers.mjs PARTS PAGE... - what pages of "export html" make of their data, in
// Node: a line of JSON for each. PARTS is a file with the parts of their script
// that draw nothing (lua/tracegrip/htmlpage.lua).

import {readFileSync} from "node:fs"

const [parts, ...pages] = process.argv.slice(2)
const script = readFileSync(parts, "utf8")

// At the end of the script, which is a module: what there is by then.
const asked = `
  globalThis.answer = (() => {
    const flameOf = (thread, weight) => {
      const tree = addUp(thread, weight)
      settle(tree, false)
      return tree
    }
    const rowsOf = tree => byFunction(tree).map((row, i) =>
      ({name: functions[i].name, calls: row.calls, own: row.own,
        total: row.total}))
    const callers = addUpCallers(addUp(-1, sums.self))
    settle(callers, true)
    const list = functions.slice(0, LEFT).map(f => ({...f, place: placeOf(f)}))
    const details = Object.fromEntries(list.map(f => [f.name, linesIn(f)]))
    timeline.arrange()
    return {
      rows: list, details, nobody, whole, contents: contents(), missing: missing(),
      filtered: filtered(), threads: facts.threads, begun: date(facts.wall),
      table: listed().map(i => functions[i].name),
      flame: rowsOf(flameOf(-1, sums.self)),
      bytes: rowsOf(flameOf(-1, sums.bytes)),
      coroutines: facts.threads.map((_, thread) =>
        rowsOf(flameOf(thread, sums.self))),
      callers: callers.list.map(node =>
        ({name: functions[node.fn].name, total: node.total})),
      markers: markers.list.map(k => ({label: markers.label(k),
        method: methodOf(k), begin: marks.begin[k], end: marks.end[k]})),
      lanes: markers.lanes.map(lane => lane.map(k => wordsOf(k))),
      heap, calls: Array.from({length: calls.n}, (_, i) => ({
        name: functions[calls.fn[i]].name, place: placeOf(functions[calls.fn[i]]),
        begin: calls.begin[i], end: calls.end[i],
        bytes: calls.bytes ? calls.bytes[i] : 0
      })).slice(0, 2000),
      searched: ASKED.search.map(text => {
        search(text, -1)
        const list = found === null ? [] : found.list
        found = null
        return list.map(item => item >= 0
          ? functions[calls.fn[item]].name : markers.label(markOf(item)))
      }),
      colours: ASKED.inks.map(([text, page], i) => COLOURS(text, page, i === 1))
    }
  })()
`

// Every hue and tone that a function may have.
const COLOURS = `
  const COLOURS = (text, page, dark) => {
    const list = [], t = rgbFrom(text), p = rgbFrom(page)
    for (let hue = 0; hue < 360; hue++)
      for (let tone = 0; tone < 12; tone++) {
        const rgb = legible(hue, tone, dark, t)
        list.push([rgb, mixed(rgb, p, FADED)])
      }
    return list
  }
`

function scriptsOf (page) {
  const text = readFileSync(page, "utf8")
  return (id) => {
    const start = text.indexOf(`<script id="${id}"`)
    const from = text.indexOf(">", start) + 1
    return text.slice(from, text.indexOf("</script", from))
  }
}

const [asking] = pages.splice(0, 1)   // JSON: {search: texts, inks: of themes}
for (const page of pages) {
  const script_of = scriptsOf(page)
  globalThis.document = {getElementById: (id) =>
    ({textContent: script_of(id), remove () {}})}
  const module = `const ASKED = ${asking};\n${script}\n${COLOURS}\n${asked}`
    + `\n// ${page}`
  await import("data:text/javascript;charset=utf-8,"
               + encodeURIComponent(module))
  console.log(JSON.stringify(globalThis.answer))
}
